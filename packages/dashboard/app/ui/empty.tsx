import type { ReactNode } from 'react'
import { Chart } from './chart.tsx'
import { CommandLine } from './command-line.tsx'

/**
 * Shown instead of an empty list: what the list would contain, how to create the first entry, and the command that does
 * it.
 */
export function Empty(props: { title: string; children?: ReactNode; action?: ReactNode; command?: string | false }) {
  const { title, children, action, command } = props
  return (
    <div className="empty">
      <Chart seed={title} />
      <strong>{title}</strong>
      {children && <div className="help">{children}</div>}
      {action}
      {command && <CommandLine command={command} />}
    </div>
  )
}
