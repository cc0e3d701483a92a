import { archiveFormat } from '@skerry/contract/export/archive-format'
import type { exporting } from '@skerry/contract/export/endpoints'
import type { In, Out } from '../../http/route.ts'
import { streamed } from '../../http/streamed.ts'
import type { InOrg } from '../orgs/scope.ts'
import { type Source, writeArchive } from './archive.ts'
import type { ExportContext } from './context.ts'
import { planArchive, type Wanted } from './queries.ts'
import { findOrganization } from './store.ts'

type Input = In<typeof exporting.create, InOrg, ExportContext>

export async function create(input: Input): Out<typeof exporting.create> {
  return await streamed(writeRecorded(input))
}

/** Writes the audit entry before the first byte is sent. The archive contains that entry. */
async function* writeRecorded(input: Input): AsyncGenerator<Buffer> {
  const { context, org, principal, body, now, isGone, signal, transaction } = input
  const { includeVersions: versions = true, includeAudit: audit = true, auditLimit = null } = body
  const wanted: Wanted = { versions, audit, auditLimit: audit ? auditLimit : null }
  const { signer, organization } = await transaction(async (work) => {
    work.audit('org.exported', org.id, { ...wanted })
    return { signer: await context.exportKey.signer(work.db), organization: await findOrganization(work.db, org) }
  })
  let plan: Source['plan'] = []
  const snapshot = await context.db.openSnapshot(async (db) => {
    const planned = await planArchive(db, context.archiveSections, { org, caller: principal, wanted })
    plan = planned.plan
    return planned.readings
  }, signal)
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
