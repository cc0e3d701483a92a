import { Menu, UnstyledButton } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { accountNav } from '../nav.ts'
import { session } from '../session.ts'
import { IconChevronsUpDown } from '../ui/icons.ts'
import { MenuLink } from '../ui/links.tsx'
import { MenuItems } from '../ui/menu-items.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { Face } from '../ui/who.tsx'

/** The signed-in person, with a menu of the account’s pages. */
export function AccountMenu() {
  const { me } = useRouteContext({ from: '/_app' })
  const signOut = useAction(session.signOut)
  const name = me.user?.name ?? me.user?.email ?? 'You'
  return (
    <Menu position="top-start" width={208}>
      <Menu.Target>
        <UnstyledButton className="side-button" title={name}>
          <Face name={name} />
          <span className="unseen">Account</span>
          <span className="side-label">{name}</span>
          <IconChevronsUpDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <MenuItems>
        <Menu.Label>{me.user?.email ?? me.user?.name}</Menu.Label>
        {accountNav.map(({ label, to, icon: Icon }) => (
          <MenuLink key={to} to={to} leftSection={<Icon size={16} strokeWidth={1.4} />}>
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
