import { Button } from '@mantine/core'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import { syncTabs } from '../nav.ts'
import { ForAdmins } from '../ui/for-admins.tsx'
import { IconPlus } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { TabNav } from '../ui/tab-nav.tsx'

/**
 * The layout of the sync pages, for owners and admins. The button opens the page's dialog by adding `?create=true` to
 * the address.
 */
export function SyncPage({ part, newLabel, children }: { part: string; newLabel?: string; children: ReactNode }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const isAdmin = org.role !== 'member'
  return (
    <Page
      title="Sync"
      part={part}
      about="Push secrets to platforms such as GitHub Actions and Vercel. This server can read every environment that is bound."
      actions={
        isAdmin &&
        newLabel && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ to: '.', search: { create: true } })}>
            {newLabel}
          </Button>
        )
      }
      tabs={isAdmin && <TabNav label="Sync" tabs={syncTabs} params={{ org: org.slug }} />}
    >
      <ForAdmins>
        <Suspense>{children}</Suspense>
      </ForAdmins>
    </Page>
  )
}
