import { Badge, Button, Divider, Drawer, Group, Stack, Switch, Text, Title } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { secrets as secretEndpoints } from '@skerry/contract/secrets/endpoints'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { KeyringError, keyring, usePlaintext } from '../keyring.ts'
import { Copy } from '../ui/copy.tsx'
import { Layer } from '../ui/layer.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Reveal } from '../ui/reveal.tsx'
import { showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { type Column, type Entry, sealedParts } from './columns.ts'
import { CopyColumnDialog } from './copy-column.tsx'
import { NoteField } from './preview.tsx'
import { offerRestore } from './undo-deletion.ts'
import { useNameOf } from './use-name-of.ts'
import { openCell } from './use-revealed.ts'
import { deleteSecret, rereadAfter, restoreSecret } from './write.ts'

// Loaded when first needed.
const RotationOfSecret = lazy(async () => ({ default: (await import('../rotation/of-secret.tsx')).RotationOfSecret }))

const versionsQuery = (orgId: string, envId: string, name: string, current: number) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'versions', name, current],
    queryFn: ({ signal }) =>
      api.secrets.versions({ params: { orgId, envId, name }, query: { limit: 200 } }, { signal }),
  })

interface Props {
  orgId: string
  columns: Column[]
  column: Column
  name: string
  onClose: () => void
}

/** One secret of one environment: its value, its references, its rotation and its history. */
export function SecretDrawer({ orgId, columns, column, name, onClose }: Props) {
  const { role } = useRouteContext({ from: '/_app/orgs/$org' }).org
  const entry = column.entries.get(name)
  return (
    <Drawer
      opened
      onClose={onClose}
      closeOnEscape={false}
      returnFocus={false}
      position="right"
      size="lg"
      title={
        <Text fw={600} component="span" style={{ wordBreak: 'break-all' }}>
          <span className="mono">{name}</span> in {column.name}
        </Text>
      }
    >
      <Layer onEscape={onClose} />
      {entry ? (
        <Stack gap="lg">
          <Value column={column} entry={entry} />
          <Actions {...{ orgId, columns, column, entry, onClose }} />
          <Divider />
          {entry.own && role !== 'member' && (
            <Suspense>
              <RotationOfSecret environmentId={column.environmentId} secretName={name} />
              <Divider />
            </Suspense>
          )}
          {entry.own ? (
            <History {...{ orgId, column, entry }} />
          ) : (
            <Text size="sm" c="dimmed">
              This value comes from {entry.layer.label}. Its history is there; edit it here to override it for{' '}
              {column.name} only.
            </Text>
          )}
        </Stack>
      ) : (
        <Text size="sm">{column.loading ? 'Loading…' : `${column.name} has no ${name}.`}</Text>
      )}
    </Drawer>
  )
}

function Value({ column, entry }: { column: Column; entry: Entry }) {
  const { name } = entry.secret
  const [expanding, setExpanding] = useState(false)
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Reveal key={entry.secret.ciphertext} name={`the value of ${name}`} open={() => openCell({ column, entry })} />
      </Group>
      <Switch
        size="xs"
        label="Expand ${NAME} references"
        checked={expanding}
        onChange={(event) => setExpanding(event.currentTarget.checked)}
      />
      {expanding && <Expanded key={entry.secret.ciphertext} column={column} name={name} />}
    </Stack>
  )
}

function Expanded({ column, name }: { column: Column; name: string }) {
  const [expanded, setExpanded] = usePlaintext<{ value: string; unresolved: string[] } | null>(null)
  const action = useAction(async () =>
    setExpanded(await keyring.call('expandSecret', { name, layers: sealedParts(column.entries.values()) })),
  )
  if (!expanded)
    return (
      <Stack gap="xs" align="flex-start">
        <Button size="xs" variant="default" loading={action.pending} onClick={() => action.run()}>
          Show what programs get
        </Button>
        <ProblemAlert error={action.error} />
      </Stack>
    )
  return (
    <Stack gap={4}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Text className="mono" aria-label="Expanded value" style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }}>
          {expanded.value}
        </Text>
        <Copy text={expanded.value} label="Copy the expanded value" />
      </Group>
      {expanded.unresolved.length > 0 && (
        <Text size="xs" className="matrix-missing">
          Not here, so left as written: {expanded.unresolved.join(', ')}
        </Text>
      )}
    </Stack>
  )
}

function Actions({ orgId, columns, column, entry, onClose }: Omit<Props, 'name'> & { entry: Entry }) {
  const [note, setNote] = useState('')
  const { name } = entry.secret
  const copying = useDialog()
  const remove = async () => {
    const outcome = await orReread(deleteSecret(orgId, column.environmentId, entry.secret, note), orgId, column)
    if (outcome === 'queued') showToast(`The deletion of ${name} waits for approval.`)
    else offerRestore(`Deleted ${name} from ${column.name}.`, orgId, [entry.secret], () => column.name)
    onClose()
  }
  const deleting = useConfirm(() => ({
    title: `Delete ${name} from ${column.name}?`,
    text: (
      <>
        Programs that start from now on do not get it. You can restore it with its history for 30 days.
        {column.isProtected && <NoteField note={note} onChange={setNote} />}
      </>
    ),
    confirm: column.isProtected ? 'Propose' : 'Delete',
    onConfirm: remove,
  }))
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => copying.open()}>
        Copy to another environment…
      </Button>
      {entry.own && (
        <Button size="xs" variant="subtle" color="red" onClick={() => deleting.open()}>
          Delete…
        </Button>
      )}
      {copying.show((close) => (
        <CopyColumnDialog {...{ orgId, columns, column, name }} onClose={close} />
      ))}
      {deleting.dialog}
    </Group>
  )
}

const orReread = <T,>(work: Promise<T>, orgId: string, { environmentId }: Column): Promise<T> =>
  work.catch(async (error) => {
    await rereadAfter([error], orgId, environmentId)
    throw error
  })

type Version = Answer<typeof secretEndpoints.versions>['versions'][number]

function History({ orgId, column, entry }: { orgId: string; column: Column; entry: Entry }) {
  const { name, version } = entry.secret
  const query = useQuery(versionsQuery(orgId, column.environmentId, name, version))
  const [note, setNote] = useState('')
  return (
    <Stack gap="xs">
      <Title order={2}>History</Title>
      {column.isProtected && version > 1 && <NoteField note={note} onChange={setNote} />}
      <Loaded query={query}>
        {({ versions }) => (
          <Stack gap={0} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
            {versions.map((one) => (
              <HistoryItem key={one.version} {...{ orgId, column, entry, note }} version={one} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Stack>
  )
}

function HistoryItem(props: { orgId: string; column: Column; entry: Entry; version: Version; note: string }) {
  const { orgId, column, entry, version, note } = props
  const { name } = entry.secret
  const isCurrent = version.version === entry.secret.version
  const nameOf = useNameOf(orgId)
  const restore = useAction(async () => {
    const outcome = await orReread(
      restoreSecret(orgId, column.environmentId, entry.secret, version.version, note),
      orgId,
      column,
    )
    showToast(
      outcome === 'queued'
        ? `Restoring version ${version.version} of ${name} waits for approval.`
        : `Restored version ${version.version} of ${name}.`,
    )
  })
  return (
    <Stack component="li" gap={4} py="xs" style={{ borderBottom: '1px solid var(--skerry-line)' }}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="xs">
          <Text size="sm" fw={500}>
            Version {version.version}
          </Text>
          {isCurrent && (
            <Badge size="sm" variant="light" tt="none">
              current
            </Badge>
          )}
          <Text size="xs" c="dimmed">
            <RelativeTime at={version.createdAt} /> by {nameOf(version.createdById)}
            {version.restoredFromVersion !== null && `, restored from version ${version.restoredFromVersion}`}
          </Text>
        </Group>
        {!isCurrent && (
          <Button
            size="compact-xs"
            variant="default"
            loading={restore.pending}
            onClick={() => restore.run()}
            aria-label={`${column.isProtected ? 'Propose to restore' : 'Restore'} version ${version.version}`}
          >
            {column.isProtected ? 'Propose to restore' : 'Restore'}
          </Button>
        )}
      </Group>
      <Reveal name={`version ${version.version}`} open={() => openVersion(column, entry, version)} />
      <ProblemAlert error={restore.error} />
    </Stack>
  )
}

/** Decrypts a version. A re-key seals only the current version again, so earlier ones stay under the old key. */
async function openVersion(column: Column, entry: Entry, { version, ciphertext }: Version): Promise<string> {
  const { secret } = entry
  try {
    return await openCell({ column, entry: { ...entry, secret: { ...secret, ciphertext } } })
  } catch (error) {
    const isClosed = error instanceof KeyringError && error.code === 'decryption_failed'
    if (!isClosed || version === secret.version) throw error
    throw new KeyringError(error.code, 'this version was sealed under an earlier key, or it was altered')
  }
}
