import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { IconBuilding, IconLock, IconLockOpen, IconMoon, IconSearch } from '@tabler/icons-react'
import { useNavigate, useParams, useRouteContext } from '@tanstack/react-router'
import { useEffect } from 'react'
import { accountNav } from './account-nav.ts'
import { keyring, useUnlocked } from './keyring.ts'
import { beginnings, type NavEntry, nav, usableBy } from './nav.ts'
import { unlocking } from './question.ts'

/**
 * Everything that one can go to or do, by its name: fed by the same tables as the sidebar. Opens each time that it is
 * asked for.
 */
export function Palette({ asked }: { asked: number }) {
  useEffect(() => {
    if (asked > 0) spotlight.open()
  }, [asked])
  const { me } = useRouteContext({ from: '/_app' })
  const { org } = useParams({ strict: false })
  const navigate = useNavigate()
  const commands = useCommands()
  const role = me.orgs.find(({ slug }) => slug === org)?.role
  const go = ({ label, icon: Icon, to, also }: NavEntry, search = {}): SpotlightActionData => ({
    id: label,
    label,
    keywords: also ?? '',
    leftSection: <Icon size={18} stroke={1.6} />,
    onClick: () => void navigate({ to, params: { org }, search }),
  })
  const pages = [...usableBy(role, nav), ...accountNav].map((entry) => go(entry))
  const begin = usableBy(role, beginnings).map((entry) => go(entry, { begin: true }))
  const orgs = me.orgs.map(
    ({ id, slug, name }): SpotlightActionData => ({
      id,
      label: name,
      description: 'Organization',
      leftSection: <IconBuilding size={18} stroke={1.6} />,
      onClick: () => void navigate({ to: '/orgs/$org', params: { org: slug } }),
    }),
  )
  return (
    <Spotlight
      actions={[...pages, ...begin, ...commands, ...orgs]}
      shortcut={null}
      highlightQuery
      nothingFound="Nothing by that name"
      scrollable
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
      searchProps={{ placeholder: 'Go to or do…', leftSection: <IconSearch size={18} />, 'aria-label': 'Go to or do' }}
    />
  )
}

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
          onClick: () => void unlocking.ask().catch(() => {}),
        },
    {
      id: 'scheme',
      label: 'Switch between light and dark',
      leftSection: <IconMoon size={18} />,
      onClick: toggleColorScheme,
    },
  ]
}
