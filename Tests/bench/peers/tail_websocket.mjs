// A record a line, with Node's own WebSocket.
const socket = new WebSocket(process.argv[2]);
let out = "";
let isDue = false;
socket.onmessage = (event) => {
  out += JSON.stringify({ data: JSON.parse(event.data) }) + "\n";
  if (out.length > 1 << 20) {
    process.stdout.write(out);
    out = "";
  } else if (!isDue) {
    isDue = true;
    setImmediate(() => {
      isDue = false;
      if (out !== "") process.stdout.write(out);
      out = "";
    });
  }
};
