import Core
import Records

extension Listing {
  static let joelclawTasks = Listing(
    columns: [
      .text("ID", "id"), .text("TITLE", "title", gives: true), .status("STATE", "state"),
      .time("LAST", "last"), .error("NOTES", "notes"),
    ], fields: ["id", "title", "state", "last", "time", "notes"])

  static let joelclawFunctions = Listing(
    columns: [
      .text("SLUG", "slug", gives: true), .text("NAME", "name", gives: true),
      Column("TRIGGERS", gives: true) { row in
        .row((row["triggers"]?.elements ?? []).map { .text($0["value"]) }, by: ", ")
      },
    ], fields: ["id", "slug", "name", "triggers"])

  static let joelclawWorkers = Listing(
    columns: [
      .text("SERVICE", "service"), .status("STATUS", "status"),
      Column("ROLE") { .text($0["worker"]?["role"]) },
      Column("STARTED") { .time($0["worker"]?["startedAt"]) },
      .number("FUNCTIONS", "count"),
    ], fields: ["service", "status", "count", "worker"])

  static let joelclawLogs = Listing(
    columns: [
      .time("TIME", "occurredAt"), .text("NAME", "name", gives: true), .text("ID", "id"),
      .text("DATA", "raw", gives: true),
    ], fields: ["occurredAt", "name", "id", "raw"])
}
