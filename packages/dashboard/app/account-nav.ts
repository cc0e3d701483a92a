import { IconBell, IconKey, IconShieldLock, IconTerminal2 } from '@tabler/icons-react'
import type { NavEntry } from './nav.ts'

/** The pages about oneself. */
export const accountNav: NavEntry[] = [
  { label: 'Keyring', icon: IconKey, to: '/account/keyring', also: 'passphrase passkey recovery kit fingerprint' },
  { label: 'Signing in', icon: IconShieldLock, to: '/account/signing-in', also: 'second factor totp passkey sessions' },
  { label: 'CLI sessions', icon: IconTerminal2, to: '/account/cli-sessions', also: 'terminal device login' },
  { label: 'Notifications', icon: IconBell, to: '/account/notifications', also: 'mail' },
]
