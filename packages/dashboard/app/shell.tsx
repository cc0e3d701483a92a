import {
  ActionIcon,
  AppShell,
  Badge,
  Box,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  Tooltip,
  UnstyledButton,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useAction } from './action.ts'
import { keyring, useUnlocked } from './keyring.ts'
import { accountNav, type NavBadge, type NavEntry, navGroups, usableBy } from './nav.ts'
import { unlockPrompt } from './prompts.ts'
import { session } from './session.ts'
import {
  IconCheck,
  IconChevronsUpDown,
  IconCircleUser,
  IconLock,
  IconLockOpen,
  IconPlus,
  IconSearch,
} from './ui/icons.ts'
import { isCovered } from './ui/layer.tsx'
import { MenuLink } from './ui/links.tsx'
import { MenuItems } from './ui/menu-items.tsx'
import { ProblemAlert } from './ui/problem.tsx'
import { useDialog } from './ui/use-dialog.ts'
import { useNavOrg } from './use-nav-org.ts'

const noop = () => {}

// These load separately, so that the page appears sooner.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const Toasts = lazy(async () => ({ default: (await import('./ui/toasts.tsx')).Toasts }))
const NewOrgDialog = lazy(async () => ({ default: (await import('./new-org.tsx')).NewOrgDialog }))

/** The frame around every page: the navigation, the search, the keyring's lock and the account menu. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure()
  const [search, setSearch] = useState(0)
  // The palette does not open over a dialog, because it would lead away from unsaved input.
  const openPalette = () => isCovered() || setSearch(search + 1)
  useHotkeys([['mod + K', openPalette]], [])
  return (
    <AppShell
      layout="alt"
      header={{ height: 48 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'lg' }}
      transitionDuration={0}
    >
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between">
          <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
          <span />
          <Group gap={4}>
            <Tooltip label="Search and commands (Ctrl K)" withArrow>
              <ActionIcon variant="subtle" color="gray" onClick={openPalette} aria-label="Search and commands">
                <IconSearch size={18} />
              </ActionIcon>
            </Tooltip>
            <KeyringButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        <AppShell.Section mb="xs">
          <Group gap="xs" wrap="nowrap">
            <OrgSwitcher />
            <Burger opened onClick={close} hiddenFrom="sm" size="sm" aria-label="Close the navigation" />
          </Group>
        </AppShell.Section>
        <AppShell.Section grow mih={0} style={{ overflowY: 'auto' }} onClick={close}>
          <OrgNav />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
      <Suspense>{search > 0 && <Palette asked={search} />}</Suspense>
      <Suspense>
        <Toasts />
      </Suspense>
    </AppShell>
  )
}

/** The sections of the organization, in groups. */
function OrgNav() {
  const org = useNavOrg()
  if (!org) return null
  return navGroups.map(({ label, entries }) => {
    const usable = usableBy(org.role, entries)
    if (usable.length === 0) return null
    return (
      <Box key={label} role="group" aria-label={label} mb="sm">
        <Text size="xs" c="dimmed" px="sm" py={4} fw={500} aria-hidden>
          {label}
        </Text>
        {usable.map((entry) => (
          <Entry key={entry.to} entry={entry} org={org} />
        ))}
      </Box>
    )
  })
}

function Entry({ entry, org }: { entry: NavEntry; org: { id: string; slug: string } }) {
  const { label, icon: Icon, to, badge } = entry
  return (
    <NavLink
      label={label}
      leftSection={<Icon size={18} strokeWidth={1.6} />}
      rightSection={badge && <EntryBadge badge={badge} orgId={org.id} />}
      renderRoot={(props) => (
        <Link to={to} params={{ org: org.slug }} activeProps={{ 'data-active': true }} {...props} />
      )}
    />
  )
}

function EntryBadge({ badge, orgId }: { badge: NavBadge; orgId: string }) {
  const { org } = useParams({ strict: false })
  const { data } = useQuery({
    queryKey: ['orgs', orgId, ...badge.key],
    queryFn: ({ signal }) => badge.load(orgId, signal),
    staleTime: 30_000,
    // The account pages must not load data of an organization. It may require a second factor, which is set up on those
    // pages.
    enabled: org !== undefined,
  })
  if (!data) return null
  return (
    <Badge size="sm" variant="light" circle={data.length === 1} aria-label={`${data} ${badge.meaning}`}>
      {data}
    </Badge>
  )
}

function OrgSwitcher() {
  const { me } = useRouteContext({ from: '/_app' })
  const current = useNavOrg()
  const creating = useDialog()
  return (
    <Menu width={208} position="bottom-start">
      <Menu.Target>
        <UnstyledButton px="sm" py={8} flex={1} miw={0} className="switcher">
          <Group justify="space-between" wrap="nowrap" miw={0}>
            <Text fw={600} truncate title={current?.name ?? ''}>
              {current?.name ?? 'Skerry'}
            </Text>
            <IconChevronsUpDown size={16} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <MenuItems>
        <Menu.Label>Organizations</Menu.Label>
        {me.orgs.map((org) => (
          <MenuLink
            key={org.id}
            to="/orgs/$org"
            params={{ org: org.slug }}
            rightSection={org === current ? <IconCheck size={14} /> : null}
          >
            {org.name}
          </MenuLink>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconPlus size={14} />} onClick={() => creating.open()}>
          New organization
        </Menu.Item>
      </MenuItems>
      <Suspense>
        {creating.show((onClose) => (
          <NewOrgDialog onClose={onClose} />
        ))}
      </Suspense>
    </Menu>
  )
}

function KeyringButton() {
  const unlocked = useUnlocked()
  const label = unlocked ? 'Lock the keyring' : 'Unlock the keyring'
  return (
    <Tooltip label={label} withArrow>
      <ActionIcon
        variant="subtle"
        color={unlocked ? 'sea' : 'gray'}
        aria-label={label}
        onClick={() => (unlocked ? keyring.lock() : unlockPrompt.ask().catch(noop))}
      >
        {unlocked ? <IconLockOpen size={18} /> : <IconLock size={18} />}
      </ActionIcon>
    </Tooltip>
  )
}

function AccountMenu() {
  const { me } = useRouteContext({ from: '/_app' })
  const signOut = useAction(session.signOut)
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Account">
          <IconCircleUser size={20} />
        </ActionIcon>
      </Menu.Target>
      <MenuItems>
        <Menu.Label>{me.user?.email ?? me.user?.name}</Menu.Label>
        {accountNav.map(({ label, to, icon: Icon }) => (
          <MenuLink key={to} to={to} leftSection={<Icon size={16} strokeWidth={1.6} />}>
            {label}
          </MenuLink>
        ))}
        <Menu.Divider />
        {/* The menu stays open so that it can show a failure. The person is then still signed in. */}
        <Menu.Item closeMenuOnClick={false} disabled={signOut.pending} onClick={() => signOut.run()}>
          Sign out
        </Menu.Item>
        <ProblemAlert error={signOut.error} />
      </MenuItems>
    </Menu>
  )
}
