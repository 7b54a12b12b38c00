import qualified Data.Map as M
import Control.Concurrent
import Control.Exception
main = do
  print (sum [x*y `mod` 7 | x <- [1..200], y <- [1..200::Int]])
  let m = M.fromList [(i, show i) | i <- [1..2000::Int]]
  print (length (concat (M.elems m)))
  v <- newEmptyMVar
  mapM_ (\i -> forkIO (putMVar v (i*i))) [1..50::Int]
  xs <- mapM (const (takeMVar v)) [1..50]
  print (sum xs)
  r <- try (evaluate (1 `div` (0::Int))) :: IO (Either ArithException Int)
  print r
