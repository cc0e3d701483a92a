import { isReader } from '@skerry/contract/grants/readers'
import { type OffboardingRow, rekeyability } from '@skerry/sdk/internal/offboarding'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { type Grantee, nameOfReader } from '../envs/grantees.ts'
import { checkKeys, remember } from '../envs/pins.ts'
import type { NewKey } from '../envs/replace-key.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { rekeyDueQuery } from '../people/rekey-due.ts'
import { fetchCached, invalidate, orgQueries } from '../queries.ts'
import { envQuery, granteesQuery } from '../secrets/queries.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { offboardingQueries } from './queries.ts'

/**
 * Replaces the keys of rows in this tab, one after the other. The key of a protected environment is proposed as a change. Each re-key is stored by the server at once, so that a
 * reload or another admin continues with the next row. A failure stops at its row.
 */
export function useRekeying() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const [current, setCurrent] = useState<string | null>(null)
  const action = useAction(async (rows: readonly OffboardingRow[]) => {
    try {
      // Notes the names of all environments, so that a name that means another environment now is noticed.
      await fetchCached(environmentLabelsQuery(org.id))
      // Loaded here, so that the list of steps appears without it.
      const { proposeKey, replaceKey } = await import('../envs/replace-key.ts')
      for (const row of rows) {
        const way = rekeyability(row)
        if (way !== 'ready' && way !== 'to_propose') continue
        setCurrent(row.id)
        await rekeyOne(
          org.id,
          row.environmentId ?? '',
          me.user?.id ?? '',
          nameOf,
          way === 'ready' ? replaceKey : proposeKey,
        )
        await invalidate(
          offboardingQueries(org.id),
          orgQueries(org.id, 'envs', row.environmentId ?? ''),
          orgQueries(org.id, 'changes'),
        )
      }
      await invalidate(rekeyDueQuery(org.id))
    } finally {
      setCurrent(null)
    }
  })
  return { ...action, current }
}

/** Gives the new key to all readers who stay. A reader whose key has changed needs a decision, so nothing is re-keyed. */
async function rekeyOne(
  orgId: string,
  envId: string,
  ownId: string,
  nameOf: (id: string) => string,
  send: (newKey: NewKey) => Promise<void>,
): Promise<void> {
  const { environment } = await fetchCached({ ...envQuery(orgId, envId), staleTime: 0 })
  const { grantees } = await fetchCached({ ...granteesQuery(orgId, envId), staleTime: 0 })
  const others = grantees.filter(({ principalId }) => principalId !== ownId)
  const checked = await checkKeys(others)
  const named = others.map((one: Grantee, i) => ({
    ...one,
    fingerprint: checked[i]?.fingerprint ?? '',
    shownAs: nameOfReader(one, nameOf),
  }))
  const changed = named.find((one, i) => checked[i]?.status === 'changed' && !isReader(one))
  if (changed)
    throw new Error(
      `The key of ${changed.shownAs} has changed, so ${environment.name} keeps its old key. Open the environment, compare the words, and re-key it there.`,
    )
  await send({ orgId, environment, ownId, others: named, dropped: [] })
  remember(named)
}
