import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { keyring, useUnlocked } from '../keyring.ts'
import { accountNav, type NavEntry, navGroups, settingsTabs, startEntry, usableBy } from '../nav.ts'
import { unlockPrompt } from '../prompts.ts'
import { IconBuilding, IconLock, IconLockOpen, IconMoon, IconSearch, IconSettings } from '../ui/icons.ts'
import { useNavOrg } from '../use-nav-org.ts'
import { createEntries } from './create-entries.ts'
import { useRecents } from './recents.ts'
import { useSecretsFound } from './secrets-found.tsx'
import { useThings } from './things.tsx'

/**
 * The command palette: all pages and commands, found by name. Its pages come from the same tables as the sidebar. It
 * opens each time `asked` grows.
 */
export function Palette({ asked }: { asked: number }) {
  useEffect(() => {
    if (asked > 0) spotlight.open()
  }, [asked])
  const [isOpen, setOpen] = useState(false)
  const [query, setQuery] = useState('')
  const { me } = useRouteContext({ from: '/_app' })
  const navigate = useNavigate()
  const commands = useCommands()
  const current = useNavOrg()
  const role = current?.role
  const { things, isLoading } = useThings(current, isOpen)
  const secrets = useSecretsFound(current, isOpen ? query.trim() : '')
  const chooseFirst = useFirstEntry(query)
  const { recents, note } = useRecents(current?.id ?? '')
  const go = ({ label, icon: Icon, to, also }: NavEntry, search = {}): Action => ({
    id: label,
    label,
    keywords: also ?? '',
    leftSection: <Icon size={18} strokeWidth={1.6} />,
    onClick: () => void navigate({ to, params: { org: current?.slug }, search }),
  })
  const sections = navGroups.flatMap(({ entries }) => entries)
  const parts = settingsTabs.flatMap(({ label, to, also }): NavEntry[] =>
    also === undefined ? [] : [{ label: `Settings: ${label}`, to, also, icon: IconSettings, admins: true }],
  )
  const pages = [...usableBy(role, [startEntry, ...sections, ...parts]), ...accountNav].map((entry) => go(entry))
  const creations = usableBy(role, createEntries).map((entry) => go(entry, { create: true }))
  const orgs = me.orgs.map(
    ({ id, slug, name }): Action => ({
      id,
      label: name,
      description: 'Organization',
      leftSection: <IconBuilding size={18} strokeWidth={1.6} />,
      onClick: () => void navigate({ to: '/orgs/$org', params: { org: slug } }),
    }),
  )
  // A choice is noted, except that of a secret, whose name this browser must not keep.
  const all = [...pages, ...creations, ...commands, ...things, ...orgs].map((action) => ({
    ...action,
    onClick: () => {
      note(action.id)
      action.onClick()
    },
  }))
  return (
    <Spotlight
      actions={query === '' ? withRecent(all, recents) : [...all, ...secrets.found]}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
      shortcut={null}
      highlightQuery
      limit={50}
      nothingFound={isLoading || secrets.isLoading ? 'Looking…' : 'Nothing by that name'}
      scrollable
      attributes={{ content: { 'aria-label': 'Palette' } }}
      searchProps={{
        placeholder: 'Find or do…',
        leftSection: <IconSearch size={18} />,
        'aria-label': 'Find or do',
        onKeyDown: chooseFirst,
      }}
    />
  )
}

/**
 * Enter runs the first entry unless an arrow key has chosen another one. The palette's library marks the first entry when
 * the text changes, and leaves the mark there when entries that load later come before it.
 */
function useFirstEntry(query: string) {
  const movedAt = useRef<string | null>(null)
  return ({ key, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
    if (key === 'ArrowDown' || key === 'ArrowUp') movedAt.current = query
    if (key !== 'Enter' || query === '' || movedAt.current === query) return
    const palette = currentTarget.closest('[role="dialog"]')
    palette?.querySelector('[data-selected]')?.removeAttribute('data-selected')
    palette?.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  }
}

/** Puts what was chosen last above the rest. */
function withRecent(all: Action[], recents: string[]): (Action | SpotlightActionGroupData)[] {
  const actions = recents.flatMap((id) => all.find((action) => action.id === id) ?? [])
  if (actions.length === 0) return all
  return [
    { group: 'Recent', actions },
    { group: 'Everything', actions: all.filter((action) => !actions.includes(action)) },
  ]
}

type Action = SpotlightActionData & { onClick: () => void }

function useCommands(): Action[] {
  const unlocked = useUnlocked()
  const { toggleColorScheme } = useMantineColorScheme()
  return [
    unlocked
      ? { id: 'lock', label: 'Lock the keyring', leftSection: <IconLock size={18} />, onClick: () => keyring.lock() }
      : {
          id: 'unlock',
          label: 'Unlock the keyring',
          leftSection: <IconLockOpen size={18} />,
          onClick: () => void unlockPrompt.ask().catch(() => {}),
        },
    {
      id: 'scheme',
      label: 'Switch between light and dark',
      leftSection: <IconMoon size={18} />,
      onClick: toggleColorScheme,
    },
  ]
}
