import type { LinkProps } from '@tanstack/react-router'
import {
  type Icon,
  IconGitPullRequest,
  IconHexagon,
  IconHistory,
  IconKey,
  IconLayers,
  IconLayoutGrid,
  IconPlus,
  IconSettings,
  IconUserPlus,
  IconUsers,
} from './ui/icons.ts'

export interface NavEntry {
  label: string
  icon: Icon
  to: NonNullable<LinkProps['to']>
  /** Words by which the command palette finds it too. */
  also?: string
  /** Shown to owners and admins alone; the server refuses others. */
  admins?: true
}

/** The pages of an organization, in the order of the sidebar: a page adds its line here. */
export const nav: NavEntry[] = [
  { label: 'Applications', icon: IconLayoutGrid, to: '/orgs/$org/apps', also: 'secrets environments apps' },
  { label: 'Groups', icon: IconLayers, to: '/orgs/$org/groups', also: 'shared secrets composition' },
  {
    label: 'Changes',
    icon: IconGitPullRequest,
    to: '/orgs/$org/changes',
    also: 'change requests review approve queue',
  },
  { label: 'Members', icon: IconUsers, to: '/orgs/$org/members', also: 'people invitations roles keys leave' },
  { label: 'Service tokens', icon: IconKey, to: '/orgs/$org/tokens', also: 'machines ci', admins: true },
  { label: 'Honey tokens', icon: IconHexagon, to: '/orgs/$org/honey-tokens', also: 'decoys trips', admins: true },
  { label: 'Audit log', icon: IconHistory, to: '/orgs/$org/audit', also: 'trail events export', admins: true },
  { label: 'Settings', icon: IconSettings, to: '/orgs/$org/settings', also: 'rename second factor mfa', admins: true },
]

/** What the command palette can begin in an organization: a page with its dialog open. */
export const beginnings: NavEntry[] = [
  { label: 'Invite someone', icon: IconUserPlus, to: '/orgs/$org/members', also: 'invitation member', admins: true },
  { label: 'New service token', icon: IconPlus, to: '/orgs/$org/tokens', also: 'create machine', admins: true },
  { label: 'New honey token', icon: IconPlus, to: '/orgs/$org/honey-tokens', also: 'create decoy', admins: true },
]

/** The entries that someone of this role can use; none outside of an organization. */
export const usableBy = (role: string | undefined, entries: NavEntry[]): NavEntry[] =>
  role === undefined ? [] : entries.filter(({ admins }) => !admins || role !== 'member')
