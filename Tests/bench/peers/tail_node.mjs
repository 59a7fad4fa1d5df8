// A record a line, with Node's fetch and as little grammar as the stream needs.
const response = await fetch(process.argv[2]);
const decoder = new TextDecoder();
let rest = "";
let event = "message";
let data = [];
for await (const bytes of response.body) {
  const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
  rest = lines.pop();
  let out = "";
  for (const line of lines) {
    if (line.startsWith("data: ")) data.push(line.slice(6));
    else if (line.startsWith("event: ")) event = line.slice(7);
    else if (line === "" && data.length > 0) {
      out += JSON.stringify({ event, id: "", data: JSON.parse(data.join("\n")) }) + "\n";
      event = "message";
      data = [];
    }
  }
  if (out !== "" && !process.stdout.write(out)) {
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}
