import { createServer } from 'node:https'
import { given, listen, loopbackCertificate } from './listen.ts'

// Like `fixed`, but with TLS and on its own port.

const { folder, port, body } = await given<{ folder: string; port: number; body: string }>()
const bytes = Buffer.from(body)
const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
const context = await loopbackCertificate(folder)

createServer({ SNICallback: (_, done) => done(null, context) }, (_request, response) => {
  response.writeHead(200, headers)
  response.end(bytes)
}).listen(port, '127.0.0.1')
listen((_request, response) => void response.end())
