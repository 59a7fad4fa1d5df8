"""What scale.py found, as tables, one picture, or bars."""
import subprocess
import sys

TITLES = {"subjects": "subjects, one bus-put", "connections": "connections that publish",
          "readers": "readers of all (bus-get)", "durables": "durable readers of other subjects",
          "stored": "records stored", "one of 1000": "the same, one guild of 1000 read",
          "ids": "ids remembered (150 B records)", "copies": "copies",
          "hub": "hub of so many edges", "edges": "these edges, together"}


def table(points, rate, restarts):
    print("| what | how many | server, s per 100,000 | resident, MB | live, MB | disk, B per record |"
          "\n|---|---:|---:|---:|---:|---:|")
    for point in points:
        disk = "" if point.disk is None else f"{point.disk:.0f}"
        print(f"| {TITLES[point.axis]} | {point.count} | {point.cpu:.2f} | "
              f"{point.resident / 1e6:.0f} | {point.live / 1e6:.1f} | {disk} |")
    print(f"\nWith three copies bus-put has {rate:.2f} times the pace of one, on this one machine.")
    for what, seconds in restarts:
        print(f"Killed and started again with {what}, the server takes the next after "
              f"{seconds:.1f} s.")
    print()


def slopes(points):
    """What one more of each costs in live memory, for simulate.py."""
    print("| one more | live memory, B |\n|---|---:|")
    for axis in ("subjects", "connections", "readers", "durables", "ids"):
        line = [point for point in points if point.axis == axis]
        few, many = line[0], line[-1]
        if many.count == few.count:
            continue
        print(f"| {TITLES[axis]} | {(many.live - few.live) / (many.count - few.count):.0f} |")
    print(flush=True)


def bars(points):
    longest = max(point.cpu for point in points)
    for point in points:
        print(f"{TITLES[point.axis]:>34} {point.count:>8} "
              f"{'#' * max(round(point.cpu / longest * 30), 1)} {point.cpu:.2f} s")


def draw(points, file):
    """Processor time and memory over how many there are, every axis by powers of ten."""
    form = "pngcairo" if file.endswith(".png") else "svg"
    blocks, time_lines, memory_lines = [], [], []
    for number, axis in enumerate(TITLES):
        blocks += [f"$d{number} << EOD"]
        blocks += [f"{p.count} {p.cpu} {p.resident / 1e6}" for p in points if p.axis == axis]
        blocks += ["EOD"]
        look = f'title "{TITLES[axis]}" with linespoints pointtype {number + 4} linewidth 2'
        time_lines.append(f"$d{number} using 1:2 {look}")
        memory_lines.append(f"$d{number} using 1:3 {look}")
    program = "\n".join([
        f"set terminal {form} size 1200,500 noenhanced background 'white'", *blocks,
        "set multiplot layout 1,2", "set linetype 5 linecolor rgb '#888800'",
        "set linetype 9 linecolor rgb '#8c564b'", "set linetype 10 linecolor rgb '#7f7f7f'",
        "set logscale xy", "set grid", "set key top left",
        "set format x '10^{%L}'", "set termoption enhanced", "set xlabel 'how many'",
        "set yrange [0.1:1000]", "set title 'server, CPU seconds per 100,000 records'",
        "plot " + ", ".join(time_lines), "set yrange [10:10000]",
        "set title 'server, resident memory, MB'", "unset key",
        "plot " + ", ".join(memory_lines), "unset multiplot"])
    # The file is ours to name: gnuplot writes to its output.
    done = subprocess.run(["gnuplot"], input=program.encode(), capture_output=True)
    if done.returncode or not done.stdout:
        sys.exit(f"bench-bus: gnuplot: {done.stderr.decode(errors='replace')[-300:]}")
    with open(file, "wb") as out:
        out.write(done.stdout)
    print(f"Drawn: {file}")
