import { Button } from '@mantine/core'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { leaseTabs } from '../nav.ts'
import { ForAdmins } from '../ui/for-admins.tsx'
import { IconPlus } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { TabNav } from '../ui/tab-nav.tsx'

/**
 * The layout of the lease pages, for owners and admins. The button opens the page's dialog by adding `?create=true` to
 * the address.
 */
export function LeasesPage({ part, newLabel, children }: { part: string; newLabel: string; children: ReactNode }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const isAdmin = org.role !== 'member'
  return (
    <Page
      title="Leases"
      part={part}
      about="Accounts on databases, hosts and clouds that are made when they are needed and end by themselves."
      actions={
        isAdmin && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ to: '.', search: { create: true } })}>
            {newLabel}
          </Button>
        )
      }
      tabs={isAdmin && <TabNav label="Leases" tabs={leaseTabs} params={{ org: org.slug }} />}
    >
      <ForAdmins>{children}</ForAdmins>
    </Page>
  )
}
