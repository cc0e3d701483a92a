import { Title } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { useFrame } from '../frame/frame-context.ts'
import { IconMenu, IconSearch } from './icons.ts'

/** A page above this one. */
export interface Crumb {
  label: string
  link: LinkProps
}

/**
 * The layout of a page: a bar with its place, its title and its actions, the tabs of related pages, and its content.
 */
export function Page(props: {
  title: string
  /** The pages above this one, the outermost first. */
  crumbs?: readonly Crumb[]
  /** Facts about the object of the page, in one line above the content. */
  about?: ReactNode
  actions?: ReactNode
  /** `tabs` links to related pages. `part` is the name of this one, which comes first in the document's title. */
  tabs?: ReactNode
  part?: string
  /** `text` is narrow for reading, `table` has lists from edge to edge, and `flush` leaves all of the space to the page. */
  width?: 'text' | 'table' | 'flush'
  children: ReactNode
}) {
  const { title, crumbs = [], about, actions, tabs, part, width = 'table', children } = props
  const documentTitle = part === undefined ? title : `${part} · ${title}`
  useEffect(() => {
    document.title = `${documentTitle} · Skerry`
  }, [documentTitle])
  return (
    <>
      <header className="bar">
        <Place title={title} crumbs={crumbs} />
        <div className="bar-actions">
          {actions}
          <div id="bar-more" />
        </div>
      </header>
      {tabs}
      <div className="body" data-width={width}>
        {about && <div className="about">{about}</div>}
        {children}
      </div>
    </>
  )
}

/** The breadcrumbs, the last of which is the title. On a phone, buttons for the navigation and the palette are beside it. */
function Place({ title, crumbs }: { title: string; crumbs: readonly Crumb[] }) {
  const { find, openNav } = useFrame()
  return (
    <>
      <button type="button" className="icon-button phone-only" aria-label="Navigation" onClick={openNav}>
        <IconMenu size={18} />
      </button>
      <div className="crumbs">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumb">
            {crumbs.map(({ label, link }) => (
              <Link key={label} className="crumb" {...link}>
                {label}
              </Link>
            ))}
          </nav>
        )}
        <h1 title={title}>{title}</h1>
      </div>
      <button type="button" className="icon-button phone-only" aria-label="Search" onClick={find}>
        <IconSearch size={18} />
      </button>
    </>
  )
}

/** A section of a page with its own heading. */
export function Section(props: { title: string; description?: ReactNode; actions?: ReactNode; children?: ReactNode }) {
  const { title, description, actions, children } = props
  return (
    <section className="section">
      <div className="section-head">
        <div>
          <Title order={2}>{title}</Title>
          {description && <div className="help">{description}</div>}
        </div>
        {actions && <div className="section-actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
