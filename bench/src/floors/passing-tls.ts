import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Agent, request as ask } from 'node:https'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { abort, given, listen, loopbackCertificate } from './listen.ts'

// Like `passing`, for requests inside of CONNECT. It ends the client's TLS, and uses TLS to the upstream.

const { folder, port, upstream } = await given<{ folder: string; port: number; upstream: number }>()
const secureContext = await loopbackCertificate(folder)
const agent = new Agent({ keepAlive: true, ca: readFileSync(join(folder, 'ca.pem')), servername: 'localhost' })

const inner = createServer((request, response) => {
  const { method, url, headers } = request
  const sent = ask({ host: '127.0.0.1', port: upstream, method, path: url, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  sent.on('error', abort)
  request.pipe(sent)
})
createServer()
  .on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
    inner.emit(
      'connection',
      secure.on('error', () => socket.destroy()),
    )
  })
  .listen(port, '127.0.0.1')
listen((_request, response) => void response.end())
