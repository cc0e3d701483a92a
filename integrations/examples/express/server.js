import express from 'express'

const { DATABASE_URL, PORT = '3000' } = process.env
if (!DATABASE_URL) throw new Error('DATABASE_URL is missing: start with `npm start`, which runs `skerry run`')

const app = express()
app.get('/', (_, response) => response.json({ database: new URL(DATABASE_URL).host }))
app.get('/health', (_, response) => response.json({ status: 'ok' }))

const server = app.listen(Number(PORT), () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => server.close())
