import type { directory } from '@skerry/contract/directory/endpoints'
import type { Claim } from '@skerry/contract/directory/schemas'
import { limits } from '@skerry/contract/limits'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { type InOrg, isAdmin } from '../orgs/scope.ts'
import { type Fact, findFacts, listFacts } from './facts.ts'
import { listOwnKeys } from './own-store.ts'
import { readDirectory } from './read.ts'
import { findHead, findNewestHead, listEntries, listSignedReaders } from './store.ts'

/** A token that does not manage the organization sees proofs of its own entries alone. Others do not exist for it. */
export async function get(input: In<typeof directory.get, InOrg>): Out<typeof directory.get> {
  const { context, db, org, query, now } = input
  const asked = query.key ?? []
  const own = seesAll(input) || asked.length === 0 ? null : await listOwnKeys(db, org.id, input.principal, now)
  const keys = own ? asked.filter((key) => own.has(key)) : asked
  return {
    directory: await readDirectory(context, db, org.id, { roots: query.root ?? [], head: query.head, keys }),
  }
}

const seesAll = ({ principal, role }: InOrg): boolean =>
  principal.type !== 'service_token' || (isAdmin({ role }) && boundTo(principal) === null)

/** Answers all pages from the head of the first one, so that a change in between does not mix two directories. */
export async function entries({ db, org, query }: In<typeof directory.entries, InOrg>): Out<typeof directory.entries> {
  const from = query.cursor === undefined ? null : entryCursor(query.cursor)
  const head = await (from ? findHead(db, org.id, from.head) : findNewestHead(db, org.id))
  if (!head) {
    if (from) throw wrongCursor()
    return { head: null, entries: [], nextCursor: null }
  }
  const limit = query.limit ?? limits.directoryEntriesDefault
  const rows = await listEntries(db, org.id, head.version, from?.key ?? null, limit + 1)
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    head: head.version,
    entries: page.map(({ text }) => text),
    nextCursor: last ? cursorOf(`${head.version} ${last.key}`) : null,
  }
}

export async function claims({
  db,
  org,
  query,
  now,
}: In<typeof directory.claims, InOrg>): Out<typeof directory.claims> {
  if (query.key) {
    const found = await findFacts(db, org.id, now, query.key)
    const missing = (key: string): Fact => ({ key, value: null, readers: null })
    const facts = [...new Set(query.key)].map((key) => found.get(key) ?? missing(key))
    return { claims: await withSigned(db, org.id, facts), nextCursor: null }
  }
  const after = query.cursor === undefined ? null : claimCursor(query.cursor)
  const limit = query.limit ?? limits.directoryEntriesDefault
  const rows = await listFacts(db, org.id, now, { after, take: limit + 1 })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    claims: await withSigned(db, org.id, page),
    nextCursor: last ? cursorOf(`claim ${last.key}`) : null,
  }
}

/** Adds the readers whom the newest entry names, so that a signer sees who has come and who is gone. */
async function withSigned(db: Sql, orgId: string, facts: readonly Fact[]): Promise<Static<typeof Claim>[]> {
  const keys = facts.map(({ key }) => key)
  const signed = await listSignedReaders(db, orgId, keys)
  return facts.map((fact) => ({ ...fact, signedReaders: signed.get(fact.key) ?? null }))
}

export async function put(input: In<typeof directory.put, InOrg>): Out<typeof directory.put> {
  const { context, org, body } = input
  return {
    head: await context.signDirectory(context, input, { orgId: org.id, signed: body, place: 'body', starts: true }),
  }
}

const cursorOf = (text: string): string => Buffer.from(text).toString('base64url')
const keyForm = '((?:person|token|worker|environment|key)/[A-Za-z0-9_:/-]{1,140})'
const entryForm = new RegExp(`^([1-9]\\d{0,8}) ${keyForm}$`)
const claimForm = new RegExp(`^claim ${keyForm}$`)
const wrongCursor = () => fail('invalid_request', 'query.cursor: not a cursor of this list')

function entryCursor(cursor: string): { head: number; key: string } {
  const [, head, key] = entryForm.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (head === undefined || key === undefined) throw wrongCursor()
  return { head: Number(head), key }
}

function claimCursor(cursor: string): string {
  const [, key] = claimForm.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (key === undefined) throw wrongCursor()
  return key
}
