import type { NavEntry } from './nav.ts'
import { IconBell, IconKey, IconShieldLock, IconSquareTerminal } from './ui/icons.ts'

/** The pages about oneself. */
export const accountNav: NavEntry[] = [
  { label: 'Keyring', icon: IconKey, to: '/account/keyring', also: 'passphrase passkey recovery kit fingerprint' },
  { label: 'Signing in', icon: IconShieldLock, to: '/account/signing-in', also: 'second factor totp passkey sessions' },
  { label: 'CLI sessions', icon: IconSquareTerminal, to: '/account/cli-sessions', also: 'terminal device login' },
  { label: 'Notifications', icon: IconBell, to: '/account/notifications', also: 'mail' },
]
