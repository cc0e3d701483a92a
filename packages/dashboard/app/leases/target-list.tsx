import { List as Items, Stack, Text } from '@mantine/core'
import { leaseFacts } from '@skerry/contract/leases/facts'
import { vendorName } from '@skerry/contract/vendors'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { labelOf } from '../form/config-labels.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { durationText } from '../ui/durations.ts'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { useDialog } from '../ui/use-dialog.ts'
import { VerifiedState } from '../ui/verified-state.tsx'
import { type LeaseTarget, targetsQuery } from './queries.ts'
import { signedInTo } from './signed-in-to.ts'
import type { OpenTargetDialog } from './target-dialogs.tsx'

// This part of the page is loaded when it first opens.
const TargetDialog = lazy(async () => ({ default: (await import('./target-dialogs.tsx')).TargetDialog }))

/** Lists the lease targets. */
export function TargetList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const query = useQuery(targetsQuery(org.id))
  const dialog = useDialog<OpenTargetDialog>()
  const verify = useAction(
    async (target: LeaseTarget) => {
      const params = { orgId: org.id, targetId: target.id }
      const { target: after } = await api.leases.verifyTarget({ params })
      // The row shows a failure, with the target's error.
      if (after.lastError === null) showToast(signedInTo(after))
    },
    { stale: [targetsQuery(org.id)] },
  )
  const actions = (target: LeaseTarget): RowAction[] => {
    const open = (kind: OpenTargetDialog['kind']) => () => dialog.open({ kind, target })
    const search = { create: true, target: target.id } as const
    return [
      {
        label: 'Get access…',
        onClick: () => void navigate({ to: '/orgs/$org/leases', params: { org: org.slug }, search }),
      },
      { label: 'Verify', disabled: verify.pending, onClick: () => void verify.run(target) },
      { label: 'Rename…', onClick: open('rename') },
      { label: 'Replace the credential…', onClick: open('replace') },
      { label: 'Remove…', danger: true, onClick: open('remove') },
    ]
  }
  return (
    <>
      <ProblemAlert error={verify.error} />
      <List
        label="Lease targets"
        query={query}
        rows={(targets) => targets}
        columns={columns}
        minWidth={820}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        actions={actions}
        details={(target) => <TargetDetails target={target} />}
        empty={
          <Empty title="No target yet" command={`skerry lease target create shop --org ${org.slug}`}>
            Register a database, a certificate authority for SSH, or a cloud. Skerry signs in to it to make and remove
            accounts.
          </Empty>
        }
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <TargetDialog dialog={opened} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

const columns: ListColumn<LeaseTarget>[] = [
  {
    header: 'Target',
    cell: ({ name, id }) => <TwoLines main={name} below={<span className="mono">{id}</span>} belowTitle={id} />,
    sort: ({ name }) => name,
    width: '32%',
  },
  {
    header: 'Kind',
    cell: ({ provider, server }) => <TwoLines main={vendorName(provider)} below={server} belowTitle={server ?? ''} />,
    sort: ({ provider }) => vendorName(provider),
  },
  { header: 'Longest lease', cell: (target) => <OneLine text={longestText(target)} />, width: 150 },
  {
    header: 'State',
    cell: ({ status, lastError }) => <VerifiedState status={status} lastError={lastError} />,
    sort: ({ status }) => status,
    width: 190,
  },
]

function longestText({ provider, config }: LeaseTarget): string {
  const { maxTtlSeconds } = config as { maxTtlSeconds?: number }
  return durationText(maxTtlSeconds ?? leaseFacts[provider].ttlSeconds.max)
}

/** Shows all settings of a target. Its credential is never shown. */
function TargetDetails({ target: { config, notes, updatedAt } }: { target: LeaseTarget }) {
  return (
    <Stack gap="xs">
      <Items size="sm" spacing={2} listStyleType="none">
        {settingsOf(config).map(([name, text]) => (
          <Items.Item key={name} style={{ wordBreak: 'break-word' }}>
            <Text span c="dimmed" size="sm">
              {name}:{' '}
            </Text>
            <span className="mono">{text}</span>
          </Items.Item>
        ))}
      </Items>
      {notes.map((note) => (
        <Text key={note} size="sm">
          {note}
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        Changed <RelativeTime at={updatedAt} />
      </Text>
    </Stack>
  )
}

/** Returns the settings with the labels of the form. The provider is left out, because the row shows it. */
function settingsOf(config: object): [string, string][] {
  return Object.entries(config).flatMap(([name, value]): [string, string][] => {
    if (name === 'provider') return []
    if (name === 'executor') return [[labelOf(name), value === 'provisioner' ? 'a provisioner' : 'this server']]
    if (typeof value === 'object' && !Array.isArray(value)) return settingsOf(value)
    return [[labelOf(name), typeof value === 'string' ? value : JSON.stringify(value)]]
  })
}
