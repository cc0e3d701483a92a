import { createServer } from 'node:http'

const { DATABASE_URL, PORT = '3000' } = process.env
if (!DATABASE_URL) throw new Error('DATABASE_URL is missing')

const server = createServer((_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ database: new URL(DATABASE_URL).host }))
})
server.listen(Number(PORT), () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => server.close())
