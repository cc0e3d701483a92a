import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Column, Entry } from '../secrets/columns.ts'
import { NoteField } from '../secrets/preview.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { HistoryItem } from './history-item.tsx'
import { versionsQuery } from './queries.ts'

/** The versions of a secret, newest first. */
export function History({ orgId, column, entry }: { orgId: string; column: Column; entry: Entry }) {
  const { name, version } = entry.secret
  const query = useInfiniteQuery(versionsQuery(orgId, column.environmentId, name, version))
  const [note, setNote] = useState('')
  return (
    <Section title="History">
      {column.isProtected && version > 1 && <NoteField note={note} onChange={setNote} />}
      <Loaded query={query}>
        {({ pages }) => {
          const versions = pages.flatMap((page) => page.versions)
          const [newest] = pages
          if (!newest) return null
          return (
            <ol className="versions">
              {versions.map((one) => (
                <HistoryItem
                  key={one.version}
                  {...{ orgId, column, entry, note }}
                  history={{ ...newest, versions }}
                  version={one}
                />
              ))}
            </ol>
          )
        }}
      </Loaded>
      {query.hasNextPage && (
        <Button mt="sm" variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show earlier versions
        </Button>
      )}
    </Section>
  )
}
