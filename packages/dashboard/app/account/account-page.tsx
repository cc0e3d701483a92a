import type { ReactNode } from 'react'
import { accountNav } from '../nav.ts'
import { Page } from '../ui/page.tsx'
import { TabNav } from '../ui/tab-nav.tsx'

/** The layout of the account pages. */
export function AccountPage(props: { part: string; description: string; children: ReactNode }) {
  const { part, description, children } = props
  return (
    <Page
      title="Account"
      part={part}
      description={description}
      width="text"
      tabs={<TabNav label="Account" tabs={accountNav} />}
    >
      {children}
    </Page>
  )
}
