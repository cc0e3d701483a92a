import { lazy, type ReactNode, Suspense } from 'react'
import { CommandLine } from './command-line.tsx'

// Loaded separately, so that the page appears sooner.
const Chart = lazy(async () => ({ default: (await import('./chart.tsx')).Chart }))

/**
 * Shown instead of an empty list: what the list would contain, how to create the first entry, and the command that does
 * it.
 */
export function Empty(props: { title: string; children?: ReactNode; action?: ReactNode; command?: string | false }) {
  const { title, children, action, command } = props
  return (
    <div className="empty">
      <Suspense fallback={<div style={{ height: 104 }} />}>
        <Chart seed={title} />
      </Suspense>
      <strong>{title}</strong>
      {children && <div className="help">{children}</div>}
      {action}
      {command && <CommandLine command={command} />}
    </div>
  )
}
