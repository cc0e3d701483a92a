import type { LinkProps } from '@tanstack/react-router'
import { countOpenChanges } from './changes/queries.ts'
import { countReady } from './passing/count.ts'
import { countOpenRequests } from './requests/count.ts'
import type { Environment } from './secrets/use-columns.ts'
import {
  type Icon,
  IconBell,
  IconBot,
  IconCheck,
  IconCloudUpload,
  IconContact,
  IconEye,
  IconGauge,
  IconGitPullRequest,
  IconHexagon,
  IconHistory,
  IconHourglass,
  IconInbox,
  IconKey,
  IconLayers,
  IconLayoutGrid,
  IconLifeBuoy,
  IconLock,
  IconRefresh,
  IconSend,
  IconSettings,
  IconShieldLock,
  IconSquareTerminal,
  IconUserPlus,
  IconUsers,
  IconVault,
} from './ui/icons.ts'

// All pages in the navigation. A new section needs a route file and a row here. A group without rows is not shown.

type To = NonNullable<LinkProps['to']>

/** A number beside a navigation entry, for things that need attention. */
export interface NavBadge {
  /**
   * The end of the query key, after the organization. The badge reloads when the queries under this key become stale.
   */
  key: readonly string[]
  /** Returns the text of the badge, or null for no badge. */
  load: (orgId: string, signal: AbortSignal) => Promise<string | null>
  /** The interval after which the badge loads again. Unless given, it does so only when its queries become stale. */
  everyMs?: number
  /** The word after the number for screen readers, such as "open" in "3 open". */
  meaning: string
  /** Shown to owners and admins only. */
  admins?: true
}

export interface NavEntry {
  label: string
  icon: Icon
  to: To
  /** More search words for the command palette. */
  also?: string
  /** Shown to owners and admins only. The server refuses others. */
  admins?: true
  badge?: NavBadge
}

export interface NavGroup {
  label: string
  entries: NavEntry[]
}

const openChanges: NavBadge = { key: ['changes', 'open-count'], load: countOpenChanges, meaning: 'open' }

const openRequests: NavBadge = {
  key: ['access-requests', 'open-count'],
  load: countOpenRequests,
  meaning: 'open',
  everyMs: 20_000,
}

const readyPeople: NavBadge = {
  key: ['missing-grants', 'ready-count'],
  load: countReady,
  meaning: 'waiting for keys that you hold',
  admins: true,
}

/** The first steps. They are in the sidebar until the person hides them. */
export const startEntry: NavEntry = { label: 'Get started', icon: IconCheck, to: '/orgs/$org/start' }

/** The sections of an organization, as the sidebar shows them. */
export const navGroups: NavGroup[] = [
  {
    label: 'Secrets',
    entries: [
      { label: 'Applications', icon: IconLayoutGrid, to: '/orgs/$org/apps', also: 'secrets environments apps' },
      { label: 'Groups', icon: IconLayers, to: '/orgs/$org/groups', also: 'shared secrets composition' },
      {
        label: 'Changes',
        icon: IconGitPullRequest,
        to: '/orgs/$org/changes',
        also: 'change requests review approve queue',
        badge: openChanges,
      },
    ],
  },
  {
    label: 'Access',
    entries: [
      {
        label: 'Members',
        icon: IconUsers,
        to: '/orgs/$org/members',
        also: 'people invitations roles keys leave',
        badge: readyPeople,
      },
      { label: 'Teams', icon: IconContact, to: '/orgs/$org/teams', also: 'colleagues grant' },
      {
        label: 'Requests',
        icon: IconInbox,
        to: '/orgs/$org/requests',
        also: 'ask access grant decline',
        badge: openRequests,
      },
      {
        label: 'Access overview',
        icon: IconEye,
        to: '/orgs/$org/access',
        also: 'access readers holders overview who',
        admins: true,
      },
      { label: 'Service tokens', icon: IconKey, to: '/orgs/$org/tokens', also: 'machines ci', admins: true },
      {
        label: 'Machine clients',
        icon: IconSquareTerminal,
        to: '/orgs/$org/clients',
        also: 'client credentials secret bootstrap',
        admins: true,
      },
    ],
  },
  {
    label: 'Automation',
    entries: [
      {
        label: 'Leases',
        icon: IconHourglass,
        to: '/orgs/$org/leases',
        also: 'temporary access database passwords ssh certificates targets',
        admins: true,
      },
      { label: 'Rotation', icon: IconRefresh, to: '/orgs/$org/rotation', also: 'rotate passwords', admins: true },
      {
        label: 'Sync',
        icon: IconCloudUpload,
        to: '/orgs/$org/sync',
        also: 'push platforms destinations github vercel bindings',
        admins: true,
      },
      { label: 'Agents', icon: IconBot, to: '/orgs/$org/agents', also: 'policy proxy tasks activity ai', admins: true },
      {
        label: 'Vault',
        icon: IconVault,
        to: '/orgs/$org/vault',
        also: 'connect accounts credentials projects executor webhooks',
        admins: true,
      },
    ],
  },
  {
    label: 'Security',
    entries: [
      { label: 'Managed keys', icon: IconLock, to: '/orgs/$org/kms', also: 'kms encrypt sign public key' },
      {
        label: 'Recovery',
        icon: IconLifeBuoy,
        to: '/orgs/$org/recovery',
        also: 'custodians shares forgot passphrase drill',
      },
      {
        label: 'Signed directory',
        icon: IconShieldLock,
        to: '/orgs/$org/directory',
        also: 'pin trust',
      },
      { label: 'Decoys', icon: IconHexagon, to: '/orgs/$org/honey-tokens', also: 'honey tokens trips', admins: true },
      { label: 'Audit log', icon: IconHistory, to: '/orgs/$org/audit', also: 'trail events export', admins: true },
      {
        label: 'Log sink',
        icon: IconSend,
        to: '/orgs/$org/log-sink',
        also: 'opentelemetry otlp collector siem forward audit',
        admins: true,
      },
    ],
  },
  {
    label: 'Organization',
    entries: [
      { label: 'Plan and usage', icon: IconGauge, to: '/orgs/$org/plan', also: 'billing limits quota promo payments' },
      { label: 'Settings', icon: IconSettings, to: '/orgs/$org/settings', also: 'rename name', admins: true },
    ],
  },
]

/** The person's own pages. They are the entries of the account menu and the tabs of the account pages. */
export const accountNav: NavEntry[] = [
  { label: 'Keyring', icon: IconKey, to: '/account/keyring', also: 'passphrase passkey recovery kit fingerprint' },
  { label: 'Signing in', icon: IconShieldLock, to: '/account/signing-in', also: 'second factor totp passkey sessions' },
  { label: 'CLI sessions', icon: IconSquareTerminal, to: '/account/cli-sessions', also: 'terminal device login' },
  { label: 'Invitations', icon: IconUserPlus, to: '/account/invitations', also: 'join organization accept decline' },
  { label: 'Notifications', icon: IconBell, to: '/account/notifications', also: 'mail' },
]

export interface Tab {
  label: string
  to: To
  /** More search words for the command palette. The palette lists only tabs that have them. */
  also?: string
}

export const settingsTabs: Tab[] = [
  { label: 'General', to: '/orgs/$org/settings' },
  { label: 'Security', to: '/orgs/$org/settings/security', also: 'second factor mfa policy' },
  { label: 'Export', to: '/orgs/$org/settings/export', also: 'archive backup download' },
]

export const leaseTabs: Tab[] = [
  { label: 'Ledger', to: '/orgs/$org/leases' },
  { label: 'Targets', to: '/orgs/$org/leases/targets', also: 'databases hosts clouds credentials' },
]

export const syncTabs: Tab[] = [
  { label: 'Bindings', to: '/orgs/$org/sync' },
  { label: 'Connections', to: '/orgs/$org/sync/connections', also: 'providers platforms credentials' },
  { label: 'Runs', to: '/orgs/$org/sync/runs', also: 'history of pushes' },
]

/** The sections of an application. `admins` hides a tab from members. */
export const appTabs: (Tab & { admins?: true })[] = [
  { label: 'Secrets', to: '/orgs/$org/apps/$app' },
  { label: 'Environments', to: '/orgs/$org/apps/$app/environments' },
  { label: 'Changes', to: '/orgs/$org/apps/$app/changes' },
  { label: 'Access', to: '/orgs/$org/apps/$app/access' },
  { label: 'Sync', to: '/orgs/$org/apps/$app/sync', admins: true },
  { label: 'Activity', to: '/orgs/$org/apps/$app/activity', admins: true },
  { label: 'Settings', to: '/orgs/$org/apps/$app/settings', admins: true },
]

/** The sections of a team. `admins` hides a tab from members. */
export const teamTabs: (Tab & { admins?: true })[] = [
  { label: 'Access', to: '/orgs/$org/teams/$team' },
  { label: 'People', to: '/orgs/$org/teams/$team/people' },
  { label: 'Settings', to: '/orgs/$org/teams/$team/settings', admins: true },
]

/** The sections of an environment. `when` says which environments have the section. */
export const envTabs: (Tab & { when?: (environment: Environment) => boolean })[] = [
  { label: 'Access', to: '/orgs/$org/envs/$env' },
  { label: 'Composition', to: '/orgs/$org/envs/$env/composition', when: isOfApplication },
  { label: 'Branches', to: '/orgs/$org/envs/$env/branches', when: isOfApplication },
  { label: 'Protection', to: '/orgs/$org/envs/$env/protection' },
  { label: 'Settings', to: '/orgs/$org/envs/$env/settings' },
]

function isOfApplication({ applicationId, parentEnvironmentId }: Environment): boolean {
  return applicationId !== null && parentEnvironmentId === null
}

/** Returns the entries that this role may use. Without a role (outside an organization) it returns none. */
export const usableBy = <E extends { admins?: true }>(role: string | undefined, entries: E[]): E[] =>
  role === undefined ? [] : entries.filter(({ admins }) => !admins || role !== 'member')
