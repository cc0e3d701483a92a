import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useAction } from '../action.ts'
import { keyring, useUnlocked } from '../keyring.ts'
import { unlockPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { EnvName } from '../ui/env-name.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { NotUndone } from '../ui/undo-toast.tsx'
import type { Column } from './columns.ts'
import { type Deleted, deletedQuery, type Restorable, restoreDeleted } from './deleted-secrets.ts'
import { NoteField } from './preview.tsx'
import { describeRestored } from './undo-deletion.ts'
import { useNameOf } from './use-name-of.ts'

interface Props {
  orgId: string
  columns: Column[]
  onClose: () => void
}

/** The deleted secrets of all environments whose key this person holds. Each can be restored until its time is over. */
export function DeletedDialog({ orgId, columns, onClose }: Props) {
  const readable = columns.filter(({ own }) => own)
  const closed = columns.filter(({ own, loading }) => !own && !loading)
  const query = useQuery(
    deletedQuery(
      orgId,
      readable.map(({ environmentId }) => environmentId),
    ),
  )
  const opened = useOpened(readable, query.data)
  const nameOf = useNameOf(orgId)
  const [note, setNote] = useState('')
  const { restore, refusal } = useRestore(orgId, readable, note)
  const actionOf = (row: Deleted): RowAction | null => {
    const { ciphertext } = row
    if (ciphertext === null || !opened.has(row.id)) return null
    const column = columnOf(readable, row)
    return {
      label: column?.isProtected ? 'Propose to restore' : 'Restore',
      disabled: restore.pending,
      onClick: () => restore.run({ ...row, ciphertext }),
    }
  }
  return (
    <Dialog opened onClose={onClose} title="Deleted secrets" size="xl">
      <Stack>
        <Locked />
        {refusal && (
          <Alert color="red" variant="light" role="alert">
            {refusal}
          </Alert>
        )}
        <ProblemAlert error={restore.error} />
        {readable.some(({ isProtected }) => isProtected) && (query.data ?? []).length > 0 && (
          <NoteField note={note} onChange={setNote} />
        )}
        <List
          label="Deleted secrets"
          query={query}
          rows={(data) => data}
          columns={listColumns(readable, opened, nameOf)}
          rowId={({ id }) => id}
          rowName={(row) => `${opened.has(row.id) ? row.name : 'a secret'} in ${columnOf(readable, row)?.name}`}
          action={actionOf}
          empty={<Empty title="No deleted secret">A deleted secret stays here for 30 days. You can restore it.</Empty>}
        />
        {closed.length > 0 && (
          <Text className="help">
            You hold no key of {closed.map(({ name }) => name).join(', ')}, so the deleted secrets of{' '}
            {closed.length === 1 ? 'this environment' : 'these environments'} are not listed.
          </Text>
        )}
      </Stack>
    </Dialog>
  )
}

const columnOf = (columns: Column[], { environmentId }: Pick<Deleted, 'environmentId'>) =>
  columns.find((column) => column.environmentId === environmentId)

const listColumns = (
  columns: Column[],
  opened: ReadonlySet<string>,
  nameOf: (id: string) => string,
): ListColumn<Deleted>[] => [
  {
    header: 'Name',
    cell: ({ id, name }) =>
      opened.has(id) ? (
        <span className="mono">{name}</span>
      ) : (
        <span className="help">your key does not decrypt it</span>
      ),
    sort: ({ id, name }) => (opened.has(id) ? name : null),
  },
  {
    header: 'Environment',
    cell: (row) => {
      const column = columnOf(columns, row)
      return column && <EnvName name={column.name} slug={column.isBranch ? 'branch' : column.slug} />
    },
    sort: (row) => columnOf(columns, row)?.name ?? null,
    width: '18%',
  },
  { header: 'Version', cell: ({ version }) => version, width: 76 },
  {
    header: 'Deleted',
    cell: ({ deletedAt, deletedById }) => (
      <>
        <RelativeTime at={deletedAt} /> by {nameOf(deletedById)}
      </>
    ),
    sort: ({ deletedAt }) => deletedAt,
    width: '24%',
  },
  {
    header: 'Kept until',
    cell: ({ restorable, keptUntil }) =>
      restorable ? day.format(new Date(keptUntil)) : 'not restorable: key replaced',
    sort: ({ keptUntil }) => keptUntil,
    width: 118,
  },
]

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })

/**
 * Returns the IDs of the secrets whose last value the person's key opens. Only these are shown by name, because anybody
 * else could have written the other names.
 */
function useOpened(columns: Column[], rows: Deleted[] | undefined): ReadonlySet<string> {
  const unlocked = useUnlocked()
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns change with each secret, their keys do not
  useEffect(() => {
    setOpened(new Set())
    if (!unlocked || !rows) return
    let ended = false
    void openedOf(columns, rows).then(
      (ids) => ended || setOpened(new Set(ids)),
      // The keyring locked meanwhile, or the key does not unwrap. Then no name is shown.
      () => {},
    )
    return () => {
      ended = true
    }
  }, [unlocked, rows])
  return opened
}

async function openedOf(columns: Column[], rows: Deleted[]): Promise<string[]> {
  const ids = columns.map(async ({ environmentId, own }) => {
    const some = rows.flatMap(({ ciphertext, ...row }) =>
      row.environmentId === environmentId && ciphertext !== null ? [{ ...row, ciphertext }] : [],
    )
    if (!own || some.length === 0) return []
    const secrets = some.map(({ name, ciphertext }) => ({ name, ciphertext }))
    const numbers = await keyring.call('identifyValues', { wrappedDek: own.wrappedDek, environmentId, secrets })
    return some.filter((_, i) => numbers[i] !== -1).map(({ id }) => id)
  })
  return (await Promise.all(ids)).flat()
}

function useRestore(orgId: string, columns: Column[], note: string) {
  const [refusal, setRefusal] = useState<string | null>(null)
  const restore = useAction(async (row: Restorable) => {
    setRefusal(null)
    const outcome = await restoreDeleted(orgId, [row], note)
    try {
      showToast(describeRestored(outcome, [row], () => columnOf(columns, row)?.name ?? ''))
    } catch (error) {
      if (!(error instanceof NotUndone)) throw error
      setRefusal(error.message)
    }
  })
  return { restore, refusal }
}

function Locked() {
  if (useUnlocked()) return null
  return (
    <Group>
      <Text size="sm">The keyring is locked. Unlock it to see the names and to restore secrets.</Text>
      <Button variant="default" onClick={() => unlockPrompt.ask().catch(() => {})}>
        Unlock
      </Button>
    </Group>
  )
}
