import { Button, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { keyring, useUnlocked } from '../keyring.ts'
import type { Column, Entry } from '../secrets/columns.ts'
import { NoteField } from '../secrets/preview.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { HistoryItem } from './history-item.tsx'
import { type VersionHistory, versionsQuery } from './queries.ts'

/**
 * Finds the versions that the record of former names does not prove. The keyring's worker opens the record, and only an
 * unlocked keyring has the key for that. The versions are undefined until the worker has answered.
 */
function useUnproven({ layer, secret }: Entry, history: VersionHistory | undefined) {
  const unlocked = useUnlocked()
  const { wrappedDek, environmentId } = layer
  const { name } = secret
  const isRenamed = history?.formerNames != null || history?.versions.some(({ formerName }) => formerName != null)
  const query = useQuery({
    queryKey: ['unproven-versions', environmentId, name, history],
    queryFn: () => keyring.call('unprovenVersions', { wrappedDek, environmentId, name, history: history! }),
    enabled: unlocked && isRenamed === true,
    throwOnError: false,
  })
  return { unlocked, error: query.error, retry: query.refetch, versions: isRenamed === false ? [] : query.data }
}

/** The versions of a secret, newest first. */
export function History({ orgId, column, entry }: { orgId: string; column: Column; entry: Entry }) {
  const { name, version } = entry.secret
  const query = useInfiniteQuery(versionsQuery(orgId, column.environmentId, name, version))
  const [note, setNote] = useState('')
  const [newest] = query.data?.pages ?? []
  const all = useMemo(
    () => newest && { ...newest, versions: query.data?.pages.flatMap(({ versions }) => versions) ?? [] },
    [newest, query.data],
  )
  const unproven = useUnproven(entry, all)
  return (
    <Section title="History">
      {all && !unproven.versions && !unproven.unlocked && (
        <Text size="sm" c="dimmed">
          Unlock the keyring to restore a version. It checks that the version is from before {name} was renamed.
        </Text>
      )}
      <ProblemAlert error={unproven.error} retry={() => unproven.retry()} />
      {column.isProtected && version > 1 && <NoteField note={note} onChange={setNote} />}
      <Loaded query={query}>
        {() =>
          all && (
            <ol className="versions">
              {all.versions.map((one) => (
                <HistoryItem
                  key={one.version}
                  {...{ orgId, column, entry, note }}
                  history={all}
                  version={one}
                  isProven={unproven.versions && !unproven.versions.includes(one.version)}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <Button mt="sm" variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show earlier versions
        </Button>
      )}
    </Section>
  )
}
