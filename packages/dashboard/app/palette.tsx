import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { keyring, useUnlocked } from './keyring.ts'
import { accountNav, createEntries, type NavEntry, navGroups, settingsTabs, usableBy } from './nav.ts'
import { unlockPrompt } from './prompts.ts'
import { appsQuery, groupsQuery } from './secrets/queries.ts'
import {
  type Icon,
  IconBuilding,
  IconLayers,
  IconLayoutGrid,
  IconLock,
  IconLockOpen,
  IconMoon,
  IconSearch,
  IconSettings,
} from './ui/icons.ts'
import { useNavOrg } from './use-nav-org.ts'

/**
 * The command palette: all pages and commands, found by name. Its pages come from the same tables as the sidebar. It
 * opens each time `asked` grows.
 */
export function Palette({ asked }: { asked: number }) {
  useEffect(() => {
    if (asked > 0) spotlight.open()
  }, [asked])
  const [isOpen, setOpen] = useState(false)
  const { me } = useRouteContext({ from: '/_app' })
  const navigate = useNavigate()
  const commands = useCommands()
  const current = useNavOrg()
  const role = current?.role
  const things = useThings(current, isOpen)
  const go = ({ label, icon: Icon, to, also }: NavEntry, search = {}): SpotlightActionData => ({
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
  const pages = [...usableBy(role, [...sections, ...parts]), ...accountNav].map((entry) => go(entry))
  const creations = usableBy(role, createEntries).map((entry) => go(entry, { create: true }))
  const orgs = me.orgs.map(
    ({ id, slug, name }): SpotlightActionData => ({
      id,
      label: name,
      description: 'Organization',
      leftSection: <IconBuilding size={18} strokeWidth={1.6} />,
      onClick: () => void navigate({ to: '/orgs/$org', params: { org: slug } }),
    }),
  )
  return (
    <Spotlight
      actions={[...pages, ...creations, ...commands, ...(things ?? []), ...orgs]}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
      shortcut={null}
      highlightQuery
      nothingFound={things ? 'Nothing by that name' : 'Looking…'}
      scrollable
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
      searchProps={{ placeholder: 'Go to or do…', leftSection: <IconSearch size={18} />, 'aria-label': 'Go to or do' }}
    />
  )
}

/** Applications and groups. They load when the palette opens, and are undefined until then. */
function useThings(org: { id: string; slug: string } | undefined, isOpen: boolean): SpotlightActionData[] | undefined {
  const navigate = useNavigate()
  const enabled = isOpen && org !== undefined
  const { data: apps, isLoading: appsLoad } = useQuery({ ...appsQuery(org?.id ?? ''), enabled })
  const { data: groups, isLoading: groupsLoad } = useQuery({ ...groupsQuery(org?.id ?? ''), enabled })
  if (!org) return []
  if (appsLoad || groupsLoad) return undefined
  const { slug: inOrg } = org
  return [
    ...(apps?.apps ?? []).map((app) =>
      thing(app, 'Application', IconLayoutGrid, () =>
        navigate({ to: '/orgs/$org/apps/$app', params: { org: inOrg, app: app.slug } }),
      ),
    ),
    ...(groups?.groups ?? []).map((group) =>
      thing(group, 'Group', IconLayers, () =>
        navigate({ to: '/orgs/$org/groups/$group', params: { org: inOrg, group: group.slug } }),
      ),
    ),
  ]
}

const thing = (
  { id, name, slug }: { id: string; name: string; slug: string },
  description: string,
  Sign: Icon,
  go: () => Promise<void>,
): SpotlightActionData => ({
  id,
  label: name,
  keywords: slug,
  description,
  leftSection: <Sign size={18} strokeWidth={1.6} />,
  onClick: () => void go(),
})

function useCommands(): SpotlightActionData[] {
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
