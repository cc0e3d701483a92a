import { given, listen } from './listen.ts'

// A server that checks nothing and sends the same bytes to everyone.

const { body, contentType, etag } = await given<{ body: string; contentType: string; etag: string }>()
const bytes = Buffer.from(body)
const headers = { 'content-type': contentType, 'content-length': bytes.length, etag }

listen((_request, response) => {
  response.writeHead(200, headers)
  response.end(bytes)
})
