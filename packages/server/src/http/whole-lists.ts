import { setImmediate } from 'node:timers/promises'
import type { Endpoint } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import { json, PrebuiltResponse } from './prebuilt-response.ts'
import type { AnyInput } from './route.ts'

// Some lists return every row to a caller who sends no limit, because clients without paging expect that. An
// organization may have 100,000 tokens. One statement for all of them, and one call of JSON.stringify, would delay
// every other organization.

/** The answer of a list handler: an array of rows, and the cursor of the next page. */
export type ListPage = Record<string, unknown> & { nextCursor: string | null }

export const isLast = ({ nextCursor }: ListPage): boolean => nextCursor === null

/** True if the list returns all rows when no limit is sent. Other lists have a default limit. */
export function isAnsweredWhole({ unit, query: { properties } }: Pick<Endpoint, 'unit' | 'query'>): boolean {
  const { cursor, limit } = properties
  return unit === 'read' && cursor !== undefined && limit !== undefined && !('default' in limit)
}

type Handle<Input> = (input: Input) => Promise<unknown>

export const readPage = <Input extends AnyInput>(
  handle: Handle<Input>,
  input: Input,
  cursor?: string,
): Promise<ListPage> =>
  handle({
    ...input,
    query: { ...input.query, ...(cursor !== undefined && { cursor }), limit: limits.listMax },
  }) as Promise<ListPage>

/** Reads the pages after the first one. Other requests are served between two pages. */
export async function readWhole<Input extends AnyInput>(
  handle: Handle<Input>,
  input: Input,
  first: ListPage,
): Promise<PrebuiltResponse> {
  const [name] = Object.entries(first).find(([, value]) => Array.isArray(value)) as [string, unknown[]]
  // Besides the rows, a list has only fields that are the same on every page.
  const { [name]: _, nextCursor: __, ...facts } = first
  const head = Object.keys(facts).length === 0 ? '{' : `${JSON.stringify(facts).slice(0, -1)},`
  const pieces = [Buffer.from(`${head}${JSON.stringify(name)}:[`)]
  let page = first
  while (true) {
    const rows = JSON.stringify(page[name]).slice(1, -1)
    if (rows !== '') pieces.push(Buffer.from(pieces.length > 1 ? `,${rows}` : rows))
    if (page.nextCursor === null) break
    await setImmediate()
    page = await readPage(handle, input, page.nextCursor)
  }
  pieces.push(Buffer.from('],"nextCursor":null}'))
  const body = Buffer.concat(pieces)
  return new PrebuiltResponse(200, [...always, 'content-length', String(body.length)], body)
}

/** The headers that the server sets on every other answer. */
const always = ['content-type', json, 'cache-control', 'no-store', 'x-content-type-options', 'nosniff']
