import { Failure, usage } from '../failure.ts'
import { checkWritable, type Overwriting } from '../files.ts'
import type { InOrg } from '../frame.ts'
import { writePieces } from '../kms/bytes.ts'
import { parseLimit } from '../options.ts'
import { isTerminal, note, type Output } from '../output.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { startProgress } from './progress.ts'

interface Options extends Flags, Overwriting {
  versions: boolean
  audit: boolean
  auditLimit?: string
}

export async function exportTo(
  path: string,
  { session, flags, orgId, org: { slug } }: InOrg<Options>,
): Promise<Output> {
  const body = {
    includeVersions: flags.versions,
    includeAudit: flags.audit,
    auditLimit: flags.auditLimit === undefined ? null : parseLimit(flags.auditLimit, 1),
  }
  const progress = startProgress()
  const pieces = await session.client.stream('exporting', 'create', { params: { orgId }, body })
  await writePieces(path, progress.counting(pieces), flags)
  const { bytes, rows } = progress.end()
  const publicKey = await findKey(session)
  return {
    json: { path, bytes, publicKey },
    after: () => {
      if (path !== '-') note(`${slug} is in ${path}: ${bytes} bytes, ${rows} lines`)
      if (publicKey === null)
        note('the server has no server key, so the archive is not signed: store it where nobody else can change it')
      else note(`signed with ${publicKey}; check it with \`skerry org export verify ${path} --key ${publicKey}\``)
    },
  }
}

export function checkExportTo(flags: Options, path: string): void {
  if (path === '-' && isTerminal.stdout()) throw usage('an archive cannot be shown on a terminal', 'name a file')
  if (path === '-' && flags.json)
    throw usage('with -, the archive goes to stdout, so --json is not possible', 'name a file')
  checkWritable(path, flags)
}

/** Null if the server does not sign archives. */
async function findKey({ client }: Session): Promise<string | null> {
  try {
    return (await client.auditProof.exportKey({})).publicKey
  } catch (error) {
    if ((error as { code?: unknown }).code === 'not_found') return null
    throw error instanceof Error ? error : new Failure('failure', String(error))
  }
}
