import type { ReactNode } from 'react'
import { accountNav } from '../nav.ts'
import { Page } from '../ui/page.tsx'
import { TabNav } from '../ui/tab-nav.tsx'

/** The layout of the account pages. */
export function AccountPage(props: { part: string; children: ReactNode }) {
  const { part, children } = props
  return (
    <Page title="Account" part={part} width="text" tabs={<TabNav label="Account" tabs={accountNav} />}>
      {children}
    </Page>
  )
}
