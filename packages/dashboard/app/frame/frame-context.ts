import { createContext, useContext } from 'react'

interface Frame {
  /** Opens the palette. */
  find: () => void
  /** Opens the sidebar on a phone, where it is hidden. */
  openNav: () => void
}

export const FrameContext = createContext<Frame>({ find: () => {}, openNav: () => {} })

export const useFrame = () => useContext(FrameContext)
