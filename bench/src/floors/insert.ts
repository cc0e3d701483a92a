import type { IncomingMessage, ServerResponse } from 'node:http'
import pg from 'pg'
import { abort, given, listen } from './listen.ts'

// A server that inserts the ciphertext of each request into a table, durably, and does nothing else with it.

const { databaseUrl, poolSize } = await given<{ databaseUrl: string; poolSize: number }>()
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize })
await pool.query('create table rows (id bigserial primary key, ciphertext text not null)')
await pool.query('alter table rows alter column ciphertext set storage external')
const text = 'insert into rows (ciphertext) values ($1)'
const answer = Buffer.from('{"ok":true}')
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length }

async function insert(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { ciphertext } = JSON.parse(body) as { ciphertext: string }
  await pool.query({ name: 'insert', text, values: [ciphertext] })
  response.writeHead(200, headers)
  response.end(answer)
}

listen((request, response) => void insert(request, response).catch(abort))
