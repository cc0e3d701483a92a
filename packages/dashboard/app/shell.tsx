import { ActionIcon, AppShell, Burger, Group, Menu, NavLink, Text, Tooltip, UnstyledButton } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Link, Outlet, useParams, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { accountNav } from './account-nav.ts'
import { useAction } from './action.ts'
import { keyring, useUnlocked } from './keyring.ts'
import { nav, usableBy } from './nav.ts'
import { unlocking } from './question.ts'
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
import { ProblemAlert } from './ui/problem.tsx'

const noop = () => {}

// Loaded when first asked for.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const NewOrgDialog = lazy(async () => ({ default: (await import('./new-org.tsx')).NewOrgDialog }))

/** What surrounds every page: where one is, where one can go, whether the keyring is open. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure()
  const { org } = useParams({ strict: false })
  const { me } = useRouteContext({ from: '/_app' })
  const role = me.orgs.find(({ slug }) => slug === org)?.role
  const [search, setSearch] = useState(0)
  // Over a dialog it would lead away from what is being typed there.
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
          {org !== undefined &&
            usableBy(role, nav).map((entry) => <Entry key={entry.to} {...entry} params={{ org }} />)}
          <Text size="xs" c="dimmed" px="sm" pt="md" pb={4} fw={500}>
            Account
          </Text>
          {accountNav.map((entry) => (
            <Entry key={entry.to} {...entry} />
          ))}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
      <Suspense>{search > 0 && <Palette asked={search} />}</Suspense>
    </AppShell>
  )
}

function Entry({ label, icon: Icon, to, params }: (typeof nav)[number] & { params?: { org: string } }) {
  return (
    <NavLink
      label={label}
      leftSection={<Icon size={18} strokeWidth={1.6} />}
      renderRoot={(props) => <Link to={to} params={params} activeProps={{ 'data-active': true }} {...props} />}
    />
  )
}

function OrgSwitcher() {
  const { me } = useRouteContext({ from: '/_app' })
  const params = useParams({ strict: false })
  const [creating, setCreating] = useState(false)
  const current = me.orgs.find(({ slug }) => slug === params.org)
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
      <Menu.Dropdown>
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
        <Menu.Item leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
          New organization
        </Menu.Item>
      </Menu.Dropdown>
      <Suspense>{creating && <NewOrgDialog onClose={() => setCreating(false)} />}</Suspense>
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
        onClick={() => (unlocked ? keyring.lock() : unlocking.ask().catch(noop))}
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
      <Menu.Dropdown>
        <Menu.Label>{me.user?.email ?? me.user?.name}</Menu.Label>
        {/* It stays, to say so when one is still signed in. */}
        <Menu.Item closeMenuOnClick={false} disabled={signOut.pending} onClick={() => signOut.run()}>
          Sign out
        </Menu.Item>
        <ProblemAlert error={signOut.error} />
      </Menu.Dropdown>
    </Menu>
  )
}
