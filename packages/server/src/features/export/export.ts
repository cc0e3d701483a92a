import { archiveFormat } from '@skerry/contract/archive-format'
import type { exporting } from '@skerry/contract/export'
import type { In, Out } from '../../http/route.ts'
import { streamed } from '../../http/streamed.ts'
import type { Context } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { type Source, writeArchive } from './archive.ts'
import { planArchive, type Wanted } from './queries.ts'
import { findOrganization } from './store.ts'

type Input = In<typeof exporting.create, InOrg>

/** Each holds a connection to the database and the moment that it reads, for as long as somebody takes what it reads. */
const underWayMax = 2
const retryAfterSeconds = 30

/** The organizations whose archives a server is writing. */
const underWay = new WeakMap<Context, Set<string>>()

export async function create(input: Input): Out<typeof exporting.create> {
  return await streamed(archiveOf(input))
}

async function* archiveOf(input: Input): AsyncGenerator<Buffer> {
  const { context, org } = input
  const writing = underWay.get(context) ?? new Set()
  underWay.set(context, writing)
  if (writing.has(org.id) || writing.size >= underWayMax)
    throw fail('rate_limited', `another export is under way; try again in ${retryAfterSeconds} s`, {
      retryAfterSeconds,
    })
  writing.add(org.id)
  try {
    yield* writeRecorded(input)
  } finally {
    writing.delete(org.id)
  }
}

/** The entry is written before the first byte leaves, and is in the archive itself. */
async function* writeRecorded(input: Input): AsyncGenerator<Buffer> {
  const { context, org, principal, body, now, isGone, transaction } = input
  const { includeVersions: versions = true, includeAudit: audit = true, auditLimit = null } = body
  const wanted: Wanted = { versions, audit, auditLimit: audit ? auditLimit : null }
  const { signer, organization } = await transaction(async (work) => {
    work.audit('org.exported', org.id, { ...wanted })
    return { signer: await context.exportKey.signer(work.db), organization: await findOrganization(work.db, org) }
  })
  let plan: Source['plan'] = []
  const snapshot = await context.db.openSnapshot(async (db) => {
    const planned = await planArchive(db, org, principal, wanted)
    plan = planned.plan
    return planned.readings
  })
  const requestedBy = { id: principal.id, type: principal.type }
  const manifest = { createdAt: now, format: archiveFormat, included: wanted, organization, requestedBy } as const
  const checkWanted = () => {
    if (isGone()) throw new Error('nobody waits for the archive any more')
  }
  try {
    yield* writeArchive({ snapshot, plan, manifest, signer, checkWanted })
  } finally {
    await snapshot.close()
  }
}
