import { Agent, request as ask } from 'node:http'
import { abort, given, listen } from './listen.ts'

// A proxy that inspects nothing: it forwards headers and copies streams.

const { port } = await given<{ port: number }>()
const agent = new Agent({ keepAlive: true })

listen((request, response) => {
  const { method, url, headers } = request
  const sent = ask({ host: '127.0.0.1', port, method, path: url, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  sent.on('error', abort)
  request.pipe(sent)
})
