import type { Reading, Sql } from '../../db/database.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Section } from '../archive.ts'
import { readTrail } from '../audit-proof/archived.ts'
import type { Org } from '../orgs/scope.ts'

/** A section to write: either given rows, or the rows of readings in their order. */
export interface Planned {
  name: string
  truncated: boolean
  rows: readonly object[]
  /** Indexes of the readings in the snapshot. */
  readings: readonly number[]
}

export interface Wanted {
  versions: boolean
  audit: boolean
  auditLimit: number | null
}

/** Plans the content of an archive, as `db` shows it at this moment. */
export async function planArchive(
  db: Sql,
  sections: readonly Section[],
  { org, caller, wanted }: { org: Org; caller: Principal; wanted: Wanted },
) {
  const readings: Reading[] = []
  const read = (...added: Reading[]) => added.map((reading) => readings.push(reading) - 1)
  const plan: Planned[] = []
  const section = (name: string, added: Reading[], truncated = false) =>
    plan.push({ name, truncated, rows: [], readings: read(...added) })
  section('organization', [{ text: organization, values: [org.id] }])
  section('users', [{ text: users, values: [org.id, caller.id] }])
  for (const { name, table, columns, order, where } of sections) {
    if (name === 'secretVersions' && !wanted.versions) continue
    const text = `select ${columns} from ${table} t where org_id = $1${where ? ` and ${where}` : ''} order by ${order}`
    section(name, [{ text, values: [org.id] }])
  }
  if (!wanted.audit) return { plan, readings }
  const trail = await readTrail(db, org, wanted.auditLimit)
  plan.push({ name: 'auditProof', truncated: false, rows: [trail.proof], readings: [] })
  section('auditGaps', [trail.gaps])
  section('audit', [trail.sealed, trail.unsealed], trail.truncated)
  return { plan, readings }
}

const organization = 'select id, name, slug, mfa_required, created_at, updated_at from organizations where id = $1'

/** A private key is encrypted with a passphrase and with the code of a recovery kit, and is given only to its owner. */
const users = `
  select u.id, u.issuer, u.subject, u.email, u.verified_email, u.name, u.public_key_jwk,
         case when u.id = $2 then u.encrypted_private_key end as encrypted_private_key,
         k.encrypted_private_key as recovery_kit, k.created_at as recovery_kit_created_at, u.created_at
    from users u
    join memberships m on m.user_id = u.id
    left join recovery_kits k on k.user_id = u.id and u.id = $2
   where m.org_id = $1 order by u.id`
