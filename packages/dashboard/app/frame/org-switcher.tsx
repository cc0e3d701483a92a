import { Menu, UnstyledButton } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { IconCheck, IconChevronsUpDown, IconPlus } from '../ui/icons.ts'
import { MenuLink } from '../ui/links.tsx'
import { MenuItems } from '../ui/menu-items.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { useNavOrg } from '../use-nav-org.ts'

// This part of the page is loaded when it first opens.
const NewOrgDialog = lazy(async () => ({ default: (await import('../new-org.tsx')).NewOrgDialog }))

/** The name of the organization, with a menu of the person’s other organizations. */
export function OrgSwitcher() {
  const { me } = useRouteContext({ from: '/_app' })
  const current = useNavOrg()
  const creating = useDialog()
  const name = current?.name ?? 'Skerry'
  return (
    <Menu width={208} position="bottom-start">
      <Menu.Target>
        <UnstyledButton className="side-button side-org" title={name}>
          <img src="/skerry.svg" width={18} height={18} alt="" />
          <span className="side-label">{name}</span>
          <IconChevronsUpDown size={14} aria-hidden />
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
