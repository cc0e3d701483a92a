import type { NavEntry } from '../nav.ts'
import { IconInbox, IconPlus, IconUserPlus } from '../ui/icons.ts'

/** The commands of the palette that create something in an organization. Each opens a page with its dialog. */
export const createEntries: NavEntry[] = [
  { label: 'Invite someone', icon: IconUserPlus, to: '/orgs/$org/members', also: 'invitation member', admins: true },
  { label: 'Ask for access', icon: IconInbox, to: '/orgs/$org/requests', also: 'request environment key' },
  { label: 'New service token', icon: IconPlus, to: '/orgs/$org/tokens', also: 'create machine', admins: true },
  { label: 'New machine client', icon: IconPlus, to: '/orgs/$org/clients', also: 'create credentials', admins: true },
  { label: 'New decoy', icon: IconPlus, to: '/orgs/$org/honey-tokens', also: 'create honey token', admins: true },
  { label: 'Get access', icon: IconPlus, to: '/orgs/$org/leases', also: 'create lease temporary', admins: true },
  { label: 'New lease target', icon: IconPlus, to: '/orgs/$org/leases/targets', also: 'database', admins: true },
  { label: 'New managed key', icon: IconPlus, to: '/orgs/$org/kms', also: 'create encrypt sign', admins: true },
  { label: 'New rotation', icon: IconPlus, to: '/orgs/$org/rotation', also: 'create rotate', admins: true },
  { label: 'Connect a destination', icon: IconPlus, to: '/orgs/$org/sync/connections', also: 'new sync', admins: true },
  { label: 'Bind an environment', icon: IconPlus, to: '/orgs/$org/sync', also: 'new sync push', admins: true },
  { label: 'New agent', icon: IconPlus, to: '/orgs/$org/agents', also: 'create identity policy', admins: true },
  { label: 'New vault project', icon: IconPlus, to: '/orgs/$org/vault', also: 'create connect', admins: true },
]
