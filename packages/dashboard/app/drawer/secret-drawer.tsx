import './drawer.css'
import { ActionIcon, Drawer, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { OnlyForMe } from '../overrides/only-for-me.tsx'
import { EnvironmentTabs } from '../secrets/environment-tabs.tsx'
import { Copy } from '../ui/copy.tsx'
import { IconChevronDown, IconChevronUp } from '../ui/icons.ts'
import { isCovered, Layer } from '../ui/layer.tsx'
import type { Cell } from './cell.ts'
import { DetailsPart } from './details.tsx'
import { History } from './history.tsx'
import { SecretActions } from './secret-actions.tsx'
import { ValuePart } from './value.tsx'

// This part of the page is loaded when it is first needed.
const RotationOfSecret = lazy(async () => ({ default: (await import('../rotation/of-secret.tsx')).RotationOfSecret }))

/**
 * The drawer of a secret: its value in each environment, its details, its rotation and its history. `names` are the
 * secrets that the matrix shows, in its order.
 */
export function SecretDrawer({ names, ...cell }: Cell & { names: string[] }) {
  const { column, name, onClose } = cell
  return (
    <Drawer
      opened
      onClose={onClose}
      closeOnEscape={false}
      returnFocus={false}
      padding={0}
      styles={{ title: { minWidth: 0 } }}
      title={
        <span className="mono drawer-name" title={name}>
          {name}
        </span>
      }
    >
      <Layer onEscape={onClose} />
      <Bar {...cell} names={names} />
      <div className="drawer-body" key={`${column.environmentId} ${name}`}>
        <Parts {...cell} />
      </div>
    </Drawer>
  )
}

/** Leads to other environments, and to the secrets before and after this one. */
function Bar({ columns, column, name, names, onOpen }: Cell & { names: string[] }) {
  const at = names.indexOf(name)
  const open = (to: string | undefined, where = column) =>
    to !== undefined && onOpen({ kind: 'secret', column: where, name: to })
  const before = at > 0 ? names[at - 1] : undefined
  const after = at >= 0 ? names[at + 1] : undefined
  useHotkeys([
    ['J', () => isCovered(1) || open(after)],
    ['K', () => isCovered(1) || open(before)],
  ])
  return (
    <div className="drawer-bar">
      <EnvironmentTabs columns={columns} only={column} onChoose={(chosen) => open(name, chosen)} />
      <Copy text={name} label="Copy the name" />
      <ActionIcon aria-label="Previous secret" disabled={before === undefined} onClick={() => open(before)}>
        <IconChevronUp size={16} />
      </ActionIcon>
      <ActionIcon aria-label="Next secret" disabled={after === undefined} onClick={() => open(after)}>
        <IconChevronDown size={16} />
      </ActionIcon>
    </div>
  )
}

function Parts(cell: Cell) {
  const { orgId, column, name } = cell
  const { role } = useRouteContext({ from: '/_app/orgs/$org' }).org
  const entry = column.entries.get(name)
  if (!entry && column.loading) return <Text>Loading…</Text>
  return (
    <>
      <ValuePart {...cell} entry={entry} />
      {entry && <SecretActions {...cell} entry={entry} />}
      <OnlyForMe {...{ column, name }} />
      <DetailsPart {...{ orgId, column, name, entry }} />
      {entry?.own && role !== 'member' && (
        <Suspense>
          <div className="section">
            <RotationOfSecret environmentId={column.environmentId} secretName={name} />
          </div>
        </Suspense>
      )}
      {entry?.own && <History {...{ orgId, column, entry }} />}
    </>
  )
}
