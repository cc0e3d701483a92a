import type { ReactNode } from 'react'

/** A form that the page itself handles: nothing is sent as forms do it by themselves, and the page stays. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
