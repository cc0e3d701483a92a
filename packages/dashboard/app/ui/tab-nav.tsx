import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'

export interface TabLink {
  label: string
  to: NonNullable<LinkProps['to']>
}

/** Links between related pages, styled as tabs. With fewer than two tabs it shows nothing. */
export function TabNav(props: {
  label: string
  tabs: TabLink[]
  params?: Record<string, string>
  /** At the end of the row. */
  beside?: ReactNode
}) {
  const { label, tabs, params, beside } = props
  if (tabs.length < 2) return null
  const links = (
    <nav aria-label={label} className="tabs">
      {tabs.map(({ label, to }) => (
        // The address of a tab can be the start of the others' addresses, so only an exact match is the current tab.
        <Link key={to} to={to} params={params ?? {}} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  )
  if (!beside) return links
  return (
    <div className="tabs-row">
      {links}
      {beside}
    </div>
  )
}
