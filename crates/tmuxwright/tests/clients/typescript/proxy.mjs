// Adds the bearer token for clients that cannot send one: `proxy.mjs URL` listens on a free port of loopback, prints
// its own URL, and forwards everything else unchanged, `Host` and `Origin` included.

import http from 'node:http';

const target = new URL(process.argv[2]);
const authorization = `Bearer ${process.env.TMUXWRIGHT_HTTP_TOKEN}`;

const server = http.createServer((request, response) => {
  const { method, url: path, headers } = request;
  const options = { host: target.hostname, port: target.port, method, path, headers: { ...headers, authorization } };
  const onward = http.request(options, reply => {
    response.writeHead(reply.statusCode, reply.headers);
    reply.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}${target.pathname}`));
