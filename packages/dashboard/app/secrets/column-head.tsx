import { ActionIcon, Button, Group, Menu, Tooltip } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { SyncedBadge } from '../sync/synced-badge.tsx'
import { EnvName } from '../ui/env-name.tsx'
import {
  IconClipboardList,
  IconCopy,
  IconDownload,
  IconEllipsisVertical,
  IconEye,
  IconEyeOff,
  IconGitBranch,
  IconLock,
  IconSettings,
  IconShieldCheck,
  IconTriangleAlert,
} from '../ui/icons.ts'
import { AnchorLink, MenuLink } from '../ui/links.tsx'
import { MenuItems } from '../ui/menu-items.tsx'
import { describeProblem } from '../ui/problem.tsx'
import type { Column } from './columns.ts'
import type { MatrixDialog } from './matrix-dialog.ts'

interface Props {
  column: Column
  /** The number of secrets that other environments have and this one lacks. */
  missing: number
  onOpenDialog: (dialog: MatrixDialog) => void
  onReveal: () => void
  onHide: () => void
}

export function ColumnHead(props: Props) {
  const { column, missing, onOpenDialog } = props
  const { org = '' } = useParams({ strict: false })
  const { name, slug, environmentId, isBranch, isProtected, own, loading, error, unreadable } = column
  const warning = error
    ? describeProblem(error).title
    : unreadable.length > 0
      ? `You hold no key to ${unreadable.join(', ')}, which is composed in here: its values are not shown.`
      : null
  return (
    <>
      <Group gap={6} wrap="nowrap" miw={0} flex={1}>
        {isBranch && <IconGitBranch size={14} aria-label="Branch" style={{ flex: 'none' }} />}
        <AnchorLink
          to="/orgs/$org/envs/$env"
          params={{ org, env: environmentId }}
          c="inherit"
          miw={0}
          title={`${name} (${slug})`}
        >
          <EnvName name={name} slug={isBranch ? 'branch' : slug} solid />
        </AnchorLink>
        {!own && !loading && <IconLock size={14} aria-label="You hold no key" style={{ flex: 'none' }} />}
        {isProtected && (
          <Tooltip label="Protected: changes need approval" withArrow>
            <IconShieldCheck size={14} aria-label="Protected" style={{ flex: 'none' }} />
          </Tooltip>
        )}
        <SyncedBadge environmentId={environmentId} isIcon />
        {warning && (
          <Tooltip label={warning} withArrow multiline maw={260}>
            <IconTriangleAlert size={14} aria-label={warning} style={{ flex: 'none' }} />
          </Tooltip>
        )}
      </Group>
      {!own && !loading && !error && (
        <Button
          size="compact-xs"
          variant="default"
          style={{ flex: 'none' }}
          aria-label={`Ask for access to ${name}`}
          title="Ask for access"
          onClick={() => onOpenDialog({ kind: 'ask', column })}
        >
          Ask
        </Button>
      )}
      {missing > 0 && (
        <span
          className="count"
          data-tone="warn"
          role="img"
          aria-label={`${missing} missing`}
          title={`${missing} missing`}
        >
          {missing}
        </span>
      )}
      <ColumnMenu {...props} />
    </>
  )
}

function ColumnMenu({ column, onOpenDialog, onReveal, onHide }: Props) {
  const { org = '' } = useParams({ strict: false })
  const { name, environmentId, own } = column
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconEllipsisVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <MenuItems>
        <Menu.Item leftSection={<IconEye size={15} />} onClick={onReveal}>
          Reveal all
        </Menu.Item>
        <Menu.Item leftSection={<IconEyeOff size={15} />} onClick={onHide}>
          Hide all
        </Menu.Item>
        {column.entries.size > 0 && (
          <Menu.Item leftSection={<IconCopy size={15} />} onClick={() => onOpenDialog({ kind: 'copy', column })}>
            Copy to another…
          </Menu.Item>
        )}
        {own && column.entries.size > 0 && (
          <Menu.Item
            leftSection={<IconDownload size={15} />}
            onClick={() => onOpenDialog({ kind: 'download', column })}
          >
            Download .env…
          </Menu.Item>
        )}
        {own && (
          <Menu.Item
            leftSection={<IconClipboardList size={15} />}
            onClick={() => onOpenDialog({ kind: 'paste', column })}
          >
            Import a file…
          </Menu.Item>
        )}
        <MenuLink
          leftSection={<IconSettings size={15} />}
          to="/orgs/$org/envs/$env"
          params={{ org, env: environmentId }}
        >
          Access and settings
        </MenuLink>
      </MenuItems>
    </Menu>
  )
}
