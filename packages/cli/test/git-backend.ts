import { spawn } from 'node:child_process'
import type { RequestListener } from 'node:http'

/** Git's own server for the repositories in a folder. It refuses requests without this header. */
export const gitBackend =
  (root: string, authorization: string): RequestListener =>
  (request, response) => {
    if (request.headers.authorization !== authorization) return void response.writeHead(401).end()
    const [path = '', query = ''] = request.url!.split('?')
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'a',
        REQUEST_METHOD: request.method,
        PATH_INFO: path,
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
    })
    request.pipe(backend.stdin)
    const chunks: Buffer[] = []
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    backend.on('close', () => {
      const all = Buffer.concat(chunks)
      const end = all.indexOf('\r\n\r\n')
      const lines = all.toString('latin1', 0, end).split('\r\n')
      const headers = lines.map((line) => line.split(': ') as [string, string])
      const status = Number.parseInt(headers.find(([name]) => name === 'Status')?.[1] ?? '200', 10)
      response.writeHead(status, headers.filter(([name]) => name !== 'Status').flat()).end(all.subarray(end + 4))
    })
  }
