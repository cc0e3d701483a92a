import { Link, type LinkProps } from '@tanstack/react-router'

export interface TabLink {
  label: string
  to: NonNullable<LinkProps['to']>
}

/** Links between the parts of one thing, which look like tabs; nothing where there is only one. */
export function TabNav(props: { label: string; tabs: TabLink[]; params?: Record<string, string> }) {
  const { label, tabs, params } = props
  if (tabs.length < 2) return null
  return (
    <nav aria-label={label} className="tabs">
      {tabs.map(({ label, to }) => (
        // Below one of them are the others: only the exact address is the current one.
        <Link key={to} to={to} params={params ?? {}} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  )
}
