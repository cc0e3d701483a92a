import type { KmsKey as KmsKeyRow } from '@skerry/contract/kms/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { type InOrg, isAdmin, type Org, within } from '../orgs/scope.ts'

export type KmsKey = Checked<Static<typeof KmsKeyRow> & { orgId: string }>

export type OnKey = InOrg & { kmsKey: KmsKey }

/** Columns of `kms_keys k`. */
export const kmsKeyColumns = `k.org_id, k.id, k.name, k.purpose, k.spec, k.application_id, k.group_id, k.current_version,
  k.disabled_at is not null as disabled, k.created_at, k.updated_at`

const findKey = (db: Sql, org: Org, keyId: string) =>
  db.row<KmsKey>(`select ${kmsKeyColumns} from kms_keys k where k.org_id = $1 and k.id = $2 and k.deleted_at is null`, [
    org.id,
    keyId,
  ])

export const kmsKey = within<'kmsKey', 'kmsKeyId', KmsKey>(
  'kmsKey',
  'kmsKeyId',
  'The managed key must belong to the organization',
  findKey,
  'managed key',
)

/** An admin token that is bound to an environment is an admin only there, so it may not manage keys. */
export const noBoundAdmin = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'noBoundAdmin',
    'The server refuses an admin service token that is bound to an environment',
    base,
    async (scope) => {
      const { principal } = scope
      if (boundTo(principal) !== null && isAdmin(scope))
        throw fail('forbidden', 'this token is bound to an environment')
      return scope
    },
  )
