import type { ReactNode } from 'react'

/** A row for a setting or an action, with its button at the end. */
export function SettingsRow(props: { title: string; children: ReactNode; action: ReactNode }) {
  const { title, children, action } = props
  return (
    <div className="setting">
      <div className="setting-text">
        <strong>{title}</strong>
        <div className="help">{children}</div>
      </div>
      {action}
    </div>
  )
}
