import { type ReactNode, useState } from 'react'

/**
 * Remembers whether a dialog is open, and for which row.
 *
 * @example
 * const editing = useDialog<Agent>()
 * <Button onClick={() => editing.open(agent)}>Edit…</Button>
 * {editing.show((onClose, agent) => <EditAgent agent={agent} onClose={onClose} />)}
 */
export function useDialog<T = void>() {
  const [opened, setOpened] = useState<{ row: T } | null>(null)
  const close = () => setOpened(null)
  return {
    open: (row: T) => setOpened({ row }),
    close,
    /** Renders the dialog while it is open. */
    show: (render: (onClose: () => void, row: T) => ReactNode) => opened && render(close, opened.row),
  }
}
