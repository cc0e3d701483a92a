import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { settingsTabs } from '../nav.ts'
import { ForAdmins } from '../ui/for-admins.tsx'
import { Page } from '../ui/page.tsx'
import { TabNav } from '../ui/tab-nav.tsx'

/** The layout of the settings pages of an organization, for owners and admins. */
export function SettingsPage({ part, children }: { part: string; children: ReactNode }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <Page
      title="Settings"
      part={part}
      width="text"
      tabs={org.role !== 'member' && <TabNav label="Settings" tabs={settingsTabs} params={{ org: org.slug }} />}
    >
      <ForAdmins>{children}</ForAdmins>
    </Page>
  )
}
